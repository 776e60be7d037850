"""Pretrain on token files; start with torchrun."""

import argparse
import os

import numpy as np
import torch
from torch.distributed import init_process_group
from torch.nn.parallel import DistributedDataParallel

from model import GPT, GPTConfig

parser = argparse.ArgumentParser()
parser.add_argument("--data", default="data/tokens.bin")
parser.add_argument("--batch_size", type=int, default=8)
parser.add_argument("--steps", type=int, default=100_000)


def main():
    args = parser.parse_args()
    init_process_group("nccl")
    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    config = GPTConfig()
    model = DistributedDataParallel(GPT(config).cuda(), device_ids=[rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
    tokens = np.memmap(args.data, dtype=np.uint16, mode="r")
    for _ in range(args.steps):
        starts = np.random.randint(0, len(tokens) - config.block_size - 1, args.batch_size)
        rows = [torch.from_numpy(tokens[s : s + config.block_size + 1].astype(np.int64)) for s in starts]
        batch = torch.stack(rows).cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(batch[:, :-1], batch[:, 1:])
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)


if __name__ == "__main__":
    main()
