"""Fine-tune a vision transformer on a folder of pictures."""

import argparse

import timm
import torch
from torch.utils.data import DataLoader
from torchvision import datasets, transforms

parser = argparse.ArgumentParser()
parser.add_argument("--data", default="data/pets")
parser.add_argument("--model", default="vit_base_patch16_224")
parser.add_argument("--batch-size", type=int, default=64)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--lr", type=float, default=3e-5)


def main():
    args = parser.parse_args()
    device = torch.device("cuda")
    steps = transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor()])
    pictures = datasets.ImageFolder(args.data, steps)
    loader = DataLoader(pictures, batch_size=args.batch_size, shuffle=True, num_workers=4)
    model = timm.create_model(args.model, pretrained=True, num_classes=len(pictures.classes)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scaler = torch.amp.GradScaler("cuda")
    for epoch in range(args.epochs):
        for images, labels in loader:
            with torch.autocast("cuda", dtype=torch.float16):
                loss = torch.nn.functional.cross_entropy(model(images.to(device)), labels.to(device))
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
        print(f"epoch {epoch}: {loss.item():.4f}")


if __name__ == "__main__":
    main()
