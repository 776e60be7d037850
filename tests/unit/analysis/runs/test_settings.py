from __future__ import annotations

from collections.abc import Callable, Mapping

from gpu_lol_action.analysis.files.checkout import Checkout
from gpu_lol_action.analysis.files.setting import Setting
from gpu_lol_action.analysis.runs.runs import primary_run
from gpu_lol_action.analysis.runs.settings import Found, Scope, look_up, look_up_number, scope_of
from gpu_lol_action.domain.finding import Confidence, Evidence

Build = Callable[[Mapping[str, str]], Checkout]
HYDRA = "import hydra\nimport torch\n@hydra.main(config_path='../conf', config_name='base')\ndef main(c):\n    loss.cuda().backward()\nif __name__ == '__main__':\n    main()\n"


def found(tree: Checkout, *names: str) -> tuple[str, str, Confidence] | None:
    setting = look_up(scope_of(tree, primary_run(tree)), names)
    return (setting.text, str(setting.evidence), setting.confidence) if setting is not None else None


def test_groups_of_a_defaults_list_are_read_and_the_command_line_chooses_among_them(checkout: Build) -> None:
    files = {
        "src/train.py": HYDRA,
        "conf/base.yaml": "defaults:\n  - model: small\n  - trainer: one\n  - _self_\nseed: 1\n",
        "conf/model/small.yaml": "n_layer: 2\n",
        "conf/model/large.yaml": "n_layer: 48\n",
        "conf/trainer/one.yaml": "defaults:\n  - common\ndevices: 1\n",
        "conf/trainer/common.yaml": "max_epochs: 7\n",
    }
    plain = checkout(files)
    assert found(plain, "n_layer") == ("2", "conf/model/small.yaml:1", Confidence.HIGH)
    assert found(plain, "max_epochs") == ("7", "conf/trainer/common.yaml:1", Confidence.HIGH)
    chosen = checkout({**files, "README.md": "```\npython src/train.py model=large trainer.devices=4\n```\n"})
    assert found(chosen, "n_layer") == ("48", "conf/model/large.yaml:1", Confidence.HIGH)
    assert found(chosen, "devices") == ("4", "README.md:2", Confidence.HIGH)


def test_configurations_that_are_programs_are_read_with_their_bases(checkout: Build) -> None:
    tree = checkout(
        {
            "README.md": "```\npython tools/train.py configs/a/net.py\n```\n",
            "tools/train.py": "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n",
            "configs/a/net.py": "_base_ = ['../base.py']\nmax_epochs = 12\n",
            "configs/base.py": "data = dict(x=1)\nsamples_per_gpu = 2\nmax_epochs = 100\n",
        }
    )
    assert found(tree, "max_epochs") == ("12", "configs/a/net.py:2", Confidence.HIGH)
    assert found(tree, "samples_per_gpu") == ("2", "configs/base.py:2", Confidence.HIGH)


def test_configurations_that_name_each_other_end(checkout: Build) -> None:
    tree = checkout(
        {
            "README.md": "```\npython train.py --config a.yaml\n```\n",
            "train.py": "import torch\nif __name__ == '__main__':\n    loss.cuda().backward()\n",
            "a.yaml": "defaults:\n  - b\nx: 1\n",
            "b.yaml": "defaults:\n  - a\ny: 2\n",
        }
    )
    assert found(tree, "y") == ("2", "b.yaml:3", Confidence.HIGH)


def test_settings_under_keys_come_tier_by_tier_and_in_each_by_the_order_of_the_keys() -> None:
    def setting(key: str, text: str) -> Setting:
        return Setting(key, key, text, Evidence("a.yaml", 1))

    near = (setting("b", "none"), setting("a", "x"), setting("c", "7"))
    far = (setting("a", "5"), setting("b", "6"))
    scope = Scope(((Confidence.HIGH, near), (Confidence.LOW, far)))
    assert [found.text for found in scope.under(("a", "b"))] == ["x", "none", "5", "6"]
    assert list(scope.under(("d",))) == []
    assert look_up(scope, ("b",)) == Found(far[1], Confidence.LOW)
    assert look_up_number(scope, ("b", "a"), 1, 5) == Found(far[0], Confidence.LOW)
    assert scope == Scope(scope.tiers)
