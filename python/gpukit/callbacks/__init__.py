"""GPU statistics in training loops: keras, lightning, pytorch_lightning,
tensorboard. Each needs its framework, and only that."""
