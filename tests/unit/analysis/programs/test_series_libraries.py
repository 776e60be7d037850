"""Libraries for series train networks on a card where a program takes their networks, and nothing on it where it takes others."""

from __future__ import annotations

import pytest

from gpu_lol_action.analysis.answer.assemble import analyze
from tests.unit.analysis.conftest import Build


def workload(checkout: Build, program: str, package: str) -> str:
    found = analyze(checkout({"requirements.txt": f"{package}\n", "train.py": program}))
    return found.spec.meta.workload_type.value


@pytest.mark.parametrize(
    ("package", "program"),
    [
        ("darts[torch]", "from darts.models import TFTModel\nmodel = TFTModel(input_chunk_length=168, output_chunk_length=24, pl_trainer_kwargs={'accelerator': 'gpu'})\nmodel.fit(series)\n"),
        ("gluonts[torch]", "from gluonts.torch import DeepAREstimator\nestimator = DeepAREstimator(freq='H', prediction_length=24, trainer_kwargs={'accelerator': 'gpu'})\nestimator.train(data)\n"),
        ("gluonts[torch]", "from gluonts.torch.model.deepar import DeepAREstimator\nest = DeepAREstimator(freq='H', prediction_length=24, trainer_kwargs={'accelerator': 'gpu'})\nest.train(data)\n"),
        ("neuralforecast", "from neuralforecast import NeuralForecast\nfrom neuralforecast.models import NHITS\nnf = NeuralForecast(models=[NHITS(h=24, input_size=96, accelerator='gpu')], freq='H')\nnf.fit(df)\n"),
    ],
)  # fmt: skip
def test_networks_for_series_are_trained_on_a_card(checkout: Build, package: str, program: str) -> None:
    assert workload(checkout, program, package) == "training"


@pytest.mark.parametrize(
    ("package", "program"),
    [
        ("darts", "from darts.models import ExponentialSmoothing\nmodel = ExponentialSmoothing()\nmodel.fit(series)\n"),
        ("gluonts", "from gluonts.ext.statsforecast import AutoARIMAPredictor\nmodel = AutoARIMAPredictor(prediction_length=24)\nmodel.train(data)\n"),
    ],
)  # fmt: skip
def test_other_models_of_the_same_libraries_need_none(checkout: Build, package: str, program: str) -> None:
    assert workload(checkout, program, package) == "cpu-only"


@pytest.mark.parametrize(
    ("package", "program"),
    [
        ("darts", "from darts.models import NBEATSModel\nmodel = NBEATSModel(input_chunk_length=24, pl_trainer_kwargs={'accelerator': 'cpu'})\nmodel.fit(series)\n"),
        ("darts", 'from darts.models import NBEATSModel\nmodel = NBEATSModel(input_chunk_length=24, pl_trainer_kwargs=dict(accelerator="cpu"))\nmodel.fit(series)\n'),
        ("darts", "from darts.models import ARIMA, RNNModel, Theta\nfor kind in (ARIMA, Theta):\n    kind().fit(series)\n"),
        ("gluonts", "from gluonts.torch import DeepAREstimator\nDeepAREstimator(freq='M', trainer_kwargs={'max_epochs': 5, 'accelerator': 'cpu'}).train(data)\n"),
        ("gluonts", "from gluonts.torch.model.deepar import DeepAREstimator\nDeepAREstimator(freq='M', trainer_kwargs={'accelerator': 'cpu'}).train(data)\n"),
    ],
)  # fmt: skip
def test_networks_that_are_told_to_use_cores_or_are_not_used_need_no_card(
    checkout: Build, package: str, program: str
) -> None:
    assert workload(checkout, program, package) == "cpu-only"


@pytest.mark.parametrize(
    "program",
    [
        "from darts.models import ARIMA, RNNModel as Net\nNet(input_chunk_length=24).fit(series)\n",
        "from darts.models import NBEATSModel\nNBEATSModel(input_chunk_length=24).fit(series)\n",
        "from darts.models import NBEATSModel\na = NBEATSModel(pl_trainer_kwargs={'accelerator': 'cpu'})\nb = NBEATSModel(pl_trainer_kwargs={'accelerator': 'gpu'})\nb.fit(series)\n",
        "from darts.models import NBEATSModel\nNBEATSModel(pl_trainer_kwargs={'accelerator': args.accelerator}).fit(series)\n",
    ],
)  # fmt: skip
def test_networks_that_may_use_a_card_do(checkout: Build, program: str) -> None:
    assert workload(checkout, program, "darts[torch]") == "training"
