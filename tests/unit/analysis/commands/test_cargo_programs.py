"""Programs in Rust: a README whose first command for Cargo asks for CUDA's features builds them for a card."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from gpu_lol_action.analysis.files.checkout import Checkout

Build = Callable[[Mapping[str, str]], Checkout]


def workload(checkout: Build, readme: str) -> str:
    files = {"README.md": readme, "main.rs": "fn main() {}\n", "Cargo.toml": '[package]\nname = "a"\n'}
    return analyze(checkout(files)).spec.meta.workload_type.value


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cargo run --example draw --release --features=cuda,cudnn \\\n    -- --prompt 'a cat'", "inference"),
        ('$ RUST_LOG=info cargo run --release \\\n    --features "flash-attn cuda"', "inference"),
        ("cargo install --path cli -F candle-cuda", "inference"),
        ("cargo build --release --features cuda\n./target/release/main", "inference"),
        ("cargo run --example mnist-training --features cuda", "training"),
        ("cargo run --features cuda -- train --epochs 9", "training"),
        ("cargo run --features cuda -- --weights trained.bin", "inference"),
        ("cargo run --release", "cpu-only"),
        ("cargo run --release\ncargo run --release --features cuda", "cpu-only"),
        ("cargo run --features metal", "cpu-only"),
        ("cargo install ripgrep --features cuda", "cpu-only"),
        ("cargo test --features cuda", "cpu-only"),
    ],
)
def test_the_first_command_says_whether_it_is_for_a_card(checkout: Build, command: str, expected: str) -> None:
    assert workload(checkout, f"# A\n```\n{command}\n```\n") == expected


def test_an_amount_that_is_required_is_then_the_need(checkout: Build) -> None:
    said = "# A\n```\ncargo run --features cuda\n```\nThis requires a GPU with more than 8GB of memory.\n"
    spec = analyze(checkout({"README.md": said, "main.rs": "fn main() {}\n"})).spec
    assert spec.hardware.vram_required_gb == 8
