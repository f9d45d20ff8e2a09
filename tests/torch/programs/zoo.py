# SPDX-License-Identifier: Apache-2.0
"""Trains models of PyPI's packages with random weights for a few steps each.

    python zoo.py DEVICE FOLDER NAME
"""

import sys

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from training import DEVICE, FOLDER, begin, classes, drawn, tell, train

WORDS = 99


def pictures(model, size=32, steps=3):
    """The losses of an image classifier, and its answers afterwards."""
    model = model.to(DEVICE)
    batches = [(*drawn((4, 3, size, size), seed=step), classes(4, 10, step))
               for step in range(steps)]
    losses = train(
        model, torch.optim.SGD(model.parameters(), 0.01, 0.9),
        lambda model, batch: cross_entropy(model(batch[0]), batch[1]), batches)
    model.eval()
    with torch.no_grad():
        return losses + model(batches[0][0]).double().sum(1).tolist()


def resnet():
    from torchvision.models import resnet18

    return pictures(resnet18(num_classes=10))


def boxes():
    """Boxes that overlap by less than half, the best first."""
    from torchvision.ops import nms, roi_align

    corner, size, scores = drawn((50, 2), (50, 2), (50,))
    found = torch.cat([corner, corner + size.abs() + 1], 1)
    picture, = drawn((1, 3, 9, 9))
    region = torch.tensor([[0., 1, 1, 6, 5]], device=DEVICE)
    return [nms(found, scores, 0.5).tolist(),
            roi_align(picture, region, 3).flatten().tolist()]


def vision_transformer():
    import timm

    return pictures(timm.create_model(
        "vit_tiny_patch16_224", img_size=32, patch_size=8, num_classes=10,
        depth=2))


def efficient_net():
    import timm

    return pictures(timm.create_model("efficientnet_b0", num_classes=10), 64,
                    2)


def language(model, steps=3):
    model = model.to(DEVICE)
    batches = [classes(24, WORDS, step).view(2, 12) for step in range(steps)]
    return train(model, torch.optim.AdamW(model.parameters(), 1e-3),
                 lambda model, batch: model(batch, labels=batch).loss, batches)


def llama_model(**options):
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(LlamaConfig(
        vocab_size=WORDS, hidden_size=32, intermediate_size=64,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
        **options))


def llama():
    """The losses, then the continuation of three words."""
    model = llama_model()
    losses = language(model)
    model.eval()
    begun = torch.tensor([[5, 6, 7]], device=DEVICE)
    return losses + model.generate(
        begun, attention_mask=torch.ones_like(begun), max_new_tokens=9,
        do_sample=False, pad_token_id=0)[0].tolist()


def llama_in_bfloat16():
    return language(llama_model().to(torch.bfloat16))


def bert():
    from transformers import BertConfig, BertForMaskedLM

    return language(BertForMaskedLM(BertConfig(
        vocab_size=WORDS, hidden_size=32, intermediate_size=64,
        num_hidden_layers=2, num_attention_heads=4, hidden_dropout_prob=0,
        attention_probs_dropout_prob=0)))


class Words(torch.utils.data.Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, place):
        row = classes(10, WORDS, place).cpu()
        return {"input_ids": row, "labels": row}


def trainer():
    """transformers' own loop, which accelerate runs."""
    from transformers import Trainer, TrainingArguments

    done = Trainer(llama_model(), TrainingArguments(
        FOLDER, max_steps=4, per_device_train_batch_size=3, logging_steps=1,
        report_to=[], use_cpu=DEVICE == "cpu", save_strategy="no", seed=1,
        disable_tqdm=True), train_dataset=Words())
    done.train()
    return [row["loss"] for row in done.state.log_history if "loss" in row]


def accelerated():
    from accelerate import Accelerator

    helper = Accelerator(cpu=DEVICE == "cpu")
    model = nn.Linear(6, 2)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    model, optimizer = helper.prepare(model, optimizer)
    losses = []
    for step in range(4):
        x, y = drawn((5, 6), (5, 2), seed=step)
        loss = (model(x) - y).square().mean()
        optimizer.zero_grad()
        helper.backward(loss)
        optimizer.step()
        losses.append(loss.item())
    return losses


def lightning():
    import lightning
    from torch.utils.data import DataLoader, TensorDataset

    class Model(lightning.LightningModule):
        def __init__(self):
            super().__init__()
            self.layer, self.losses = nn.Linear(6, 2), []

        def training_step(self, batch):
            loss = (self.layer(batch[0]) - batch[1]).square().mean()
            self.losses.append(loss.item())
            return loss

        def configure_optimizers(self):
            return torch.optim.SGD(self.parameters(), 0.1)

    model = Model()
    x, y = (one.cpu() for one in drawn((20, 6), (20, 2)))
    lightning.Trainer(
        accelerator="gpu" if DEVICE == "cuda" else "cpu", devices=1,
        max_epochs=2, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
        default_root_dir=FOLDER).fit(model, DataLoader(TensorDataset(x, y), 5))
    return model.losses


def adapted():
    """Only the low-rank parts that peft adds are trained."""
    from peft import LoraConfig, get_peft_model

    model = get_peft_model(llama_model(), LoraConfig(
        r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=False))
    return language(model)


begin()
tell(losses=globals()[sys.argv[3]]())
