"""How many tokens a picture takes of a vision-language model's sequence.

Where a picture is brought to one size, (side / patch)² over what is merged: LLaVA 1.5 (336 / 14)² (Liu et al. 2023), CogVLM
(490 / 14)², Pixtral (1024 / 16)²; PaliGemma says its side in its name (Beyer et al. 2024). Where it is cut into tiles: tokens of a
tile times tiles and an overview (InternVL 256, up to 12; LLaVA-NeXT 576, up to 4; MiniCPM-V 64, up to 9; Idefics 3 and SmolVLM
169 and 81 at 4 x 4). Where it keeps its size: pixels over the merged patch (Qwen2-VL 28², Wang et al. 2024; Qwen3-VL 32²). Where
queries read it: their number (BLIP-2 32, Idefics 2 64). Models that look at pictures through cross-attention (Llama 3.2 Vision,
Flamingo) have none in the sequence.
"""

from __future__ import annotations

from gpu_lol_action.domain.patterns import regex

USUAL_PIXELS = 1_000_000
"""A picture of a model that keeps its size, where nothing limits it."""
MOST_PIXELS = 2_000_000
"""Few pictures of the usual sets have more (a page at 150 dots an inch), however large the limit is."""
TEXT_TOKENS = 256  # a question with its answer, beside the picture
_PER_PIXEL = (
    (regex(r"qwen-?3[._-]?(?:vl|5|6)|qwen3\.\d"), 32 * 32),
    (regex(r"qwen-?2(?:[._]5)?-?(?:vl|omni)|qvq|ui-tars|olmocr|gme-qwen|showui|glm-4\.[15]v|glm-4\.1v|kimi-vl|nvila"), 28 * 28),
    (regex(r"pixtral|mistral-small-(?:3|4)|ministral-3|devstral-small-2"), 16 * 16),
)  # fmt: skip
_PER_PICTURE = (
    (regex(r"paligemma.*-896"), 4096),
    (regex(r"paligemma.*-448"), 1024),
    (regex(r"paligemma|gemma-?3|gemma-?4|medgemma"), 256),
    (regex(r"llama-?3\.2.*vision|flamingo|otter|\bidefics-(?:9|80)b"), 0),
    (regex(r"llava.*(?:onevision|ov-)|llava-ov"), 7290),
    (regex(r"llava-?(?:v?1\.6|next)|llava-next"), 2880),
    (regex(r"bunny|mantis|siglip.*llava|tinyllava"), 729),
    (regex(r"llava|vicuna.*clip|sharegpt4v|geochat|glamm|video-?chatgpt"), 576),
    (regex(r"internvl|internlm-xcomposer"), 3328),
    (regex(r"minicpm.*-v|minicpm-v"), 640),
    (regex(r"idefics2"), 320),
    (regex(r"idefics3"), 2873),
    (regex(r"smolvlm"), 1377),
    (regex(r"phi-3(?:\.5)?-vision"), 2509),
    (regex(r"cogvlm2"), 2304),
    (regex(r"cogvlm|glm-4v"), 1600),
    (regex(r"deepseek-vl2"), 1500),
    (regex(r"deepseek-vl|janus"), 576),
    (regex(r"molmo"), 1872),
    (regex(r"blip|minigpt"), 32),
    (regex(r"qwen-vl"), 256),
)  # fmt: skip


def picture_tokens(model: str, limit_pixels: int = 0) -> int | None:
    """Return the tokens of one picture; None for a family that is not known. ``limit_pixels``: what larger ones are brought to, 0 for none."""
    name = model.lower().replace("_", "-")
    for pattern, area in _PER_PIXEL:
        if pattern.search(name):
            return max(1, min(limit_pixels or USUAL_PIXELS, MOST_PIXELS) // area)
    return next((tokens for pattern, tokens in _PER_PICTURE if pattern.search(name)), None)
