"""A pipeline's module, and the model that a program has a class load, say more of the family than a name that it shares."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.models import model_families
from gpu_lol_action.analysis.runs.runs import primary_run

Build = Callable[[Mapping[str, str]], Checkout]
PIPELINE = """
import torch
from {home} import StableDiffusionXLPipeline
from ours.parts import ChatGLMModel
if __name__ == '__main__':
    encoder = ChatGLMModel.from_pretrained(folder + '/text_encoder', torch_dtype=torch.float16)
    pipe = StableDiffusionXLPipeline(text_encoder=encoder, unet=unet, vae=vae).to('cuda')
    pipe('a').images[0].save('a.png')
"""
SOUND = """
import torch
from ours import Speaker
if __name__ == '__main__':
    speaker = Speaker({named})
    speaker.cuda().generate('a')
"""


def family(tree: Checkout) -> str | None:
    return next((found.value for found in model_families.guess_family(tree, primary_run(tree))), None)


def test_a_pipeline_is_of_the_module_that_it_comes_from(checkout: Build) -> None:
    for home in ("kolors.pipelines", "kolors.pipeline_stable_diffusion_xl"):
        assert family(checkout({"sample.py": PIPELINE.format(home=home)})) == "Kwai-Kolors/Kolors-diffusers"
    # A library's own is what its name says, and more than the encoder of its prompts.
    library = family(checkout({"sample.py": PIPELINE.format(home="diffusers")}))
    assert library == "stabilityai/stable-diffusion-xl-base-1.0"


def test_a_pipeline_that_makes_larger_what_another_drew_is_not_all_of_it(checkout: Build) -> None:
    program = (
        "from diffusers import StableDiffusionUpscalePipeline, WanPipeline\n"
        "if __name__ == '__main__':\n"
        "    wan = WanPipeline.from_pretrained(given).to('cuda')\n"
        "    larger = StableDiffusionUpscalePipeline(vae=vae).to('cuda')\n"
        "    larger(wan('a cat'))\n"
    )
    assert (family(checkout({"sample.py": program})) or "").startswith("Wan-AI/")


def test_a_file_s_name_is_no_family_where_another_model_is_loaded(checkout: Build) -> None:
    files = {"ours.py": "class Speaker:\n    pass\n"}
    assert family(checkout({"speak_flux.py": SOUND.format(named="size='small'"), **files})) is not None
    assert family(checkout({"speak_flux.py": SOUND.format(named="name='somebody/SpeakFlow'"), **files})) is None


def test_data_and_logs_are_no_other_model(checkout: Build) -> None:
    for made in ("Dataset(name='somebody/pictures')", "WandbLogger(name='team/runs')"):
        program = SOUND.format(named="size='small'").replace("    speaker =", f"    {made}\n    speaker =", 1)
        assert family(checkout({"speak_flux.py": program, "ours.py": "class Speaker:\n    pass\n"})) is not None


def test_a_configuration_that_a_command_names_and_that_is_not_there_is_no_place(checkout: Build) -> None:
    """Of 791 public folders one had such evidence: a page that names a file which was renamed."""
    tree = checkout({"README.md": "# Tune\n\n```\naxolotl train examples/tune/qwen3-4b-lora.yaml\n```\n"})
    (found,) = model_families.guess_family(tree, primary_run(tree))
    assert (found.value, str(found.evidence)) == ("qwen3-4b", "README.md:4")
