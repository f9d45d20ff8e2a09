# SPDX-License-Identifier: Apache-2.0
"""Writes metrics for TensorBoard."""

from gpukit.na import NA

__all__ = ["add_scalar_dict"]


def add_scalar_dict(writer, main_tag, tag_scalar_dict, global_step=None,
                    walltime=None):
    """Writes numbers as scalars named main_tag/key, each to its own chart, by
    a SummaryWriter of torch or tensorboardX. Leaves out NA."""
    for tag, value in tag_scalar_dict.items():
        if value is not NA:
            name = f"{main_tag}/{tag}" if main_tag else tag
            writer.add_scalar(name, value, global_step=global_step,
                              walltime=walltime)
