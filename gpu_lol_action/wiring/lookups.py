"""What may be asked from outside: prices; and the Hub and a language model, each only where somebody said so."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from gpu_lol_action.adapters.clock import SystemClock
from gpu_lol_action.domain.lookup import is_copilot
from gpu_lol_action.handlers.askable import Lookups

if TYPE_CHECKING:
    from gpu_lol_action.domain.request import (
        Command,
    )
    from gpu_lol_action.handlers.ports_lookups import LanguageModel, ModelHub
    from gpu_lol_action.handlers.prices import LivePrices

LIVE, BUNDLED = "live", "bundled"


def job_lookups(inputs: Mapping[str, str], workspace_temp: str) -> Lookups:
    """Return what a job may ask from outside. The cache lives as long as the job: its folder is emptied with it."""
    cache = Path(workspace_temp) / "gpu-lol-hub" if workspace_temp else None
    told = inputs["llm-url"], inputs["llm-model"], inputs["llm-key"]
    llm = _language_model(*told, inputs["github-token"]) if inputs["llm-url"] else None
    kept = Path(workspace_temp) / "gpu-lol-prices" if workspace_temp else None
    is_hub_asked = inputs["hub"].lower() == "true"
    return Lookups(_hub(inputs["hf-token"], cache), llm, is_hub_asked, live_prices(inputs["prices"], kept))


def terminal_prices() -> Callable[[], LivePrices] | None:
    """Return the prices that a terminal asks for, kept between commands."""
    return live_prices(os.environ.get("GPU_LOL_PRICES", "").strip() or LIVE, cache_folder("prices"))


def cache_folder(name: str) -> Path:
    """Return where a terminal keeps answers of that kind."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "gpu-lol" / name


def live_prices(word: str, cache: Path | None) -> Callable[[], LivePrices] | None:
    """Return the published prices of this run, asked for once; None where the setting says ``bundled``."""
    if word.lower() == BUNDLED:
        return None

    @functools.cache
    def prices() -> LivePrices:
        from gpu_lol_action.adapters.catalogs import CATALOGS, CatalogClient, CatalogSettings
        from gpu_lol_action.handlers.prices import LivePrices

        endpoint = CATALOGS if word.lower() in ("", LIVE) else word
        return LivePrices(CatalogClient(CatalogSettings(endpoint, cache), SystemClock().now))

    return prices


def terminal_lookups(command: Command) -> Lookups:
    """Return what a person at a terminal asked to be asked."""
    hub = _hub(os.environ.get("HF_TOKEN", "").strip(), cache_folder("hub")) if command.use_hub else None
    names = ("GPU_LOL_LLM_URL", "GPU_LOL_LLM_MODEL", "GPU_LOL_LLM_KEY")
    llm = _language_model(*(os.environ.get(name, "").strip() for name in names)) if command.use_llm else None
    return Lookups(hub, llm, is_hub_asked=command.use_hub)


def _hub(token: str, cache: Path | None) -> ModelHub:
    from gpu_lol_action.adapters.hub import HUB, HubClient, HubSettings

    # The variable by which Hugging Face's own tools are sent to a mirror.
    endpoint = os.environ.get("HF_ENDPOINT", "").strip() or HUB
    return HubClient(HubSettings(endpoint, token, cache), SystemClock().now)


def _language_model(url: str, model: str, key: str, job_token: str | None = None) -> LanguageModel:
    """Return the model at an address, or GitHub Copilot, which takes the job's own token where it gets no key."""
    if is_copilot(url):
        from gpu_lol_action.adapters.copilot import CopilotProgram, CopilotSettings

        return CopilotProgram(CopilotSettings(os.environ, key or job_token or "", model))
    from gpu_lol_action.adapters.llm import ChatEndpoint, LlmSettings

    return ChatEndpoint(LlmSettings(url, model, key), SystemClock().now)
