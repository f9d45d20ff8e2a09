"""GPUs, the processes that use them, and the host."""
