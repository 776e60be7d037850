"""Made-up credentials of eight clouds and more, as a runner's HOME and environment may hold them, and the search for them."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

FILES: Mapping[str, str] = {
    ".aws/credentials": "[default]\naws_access_key_id = {id}\naws_secret_access_key = {secret}\n",
    ".azure/msal_token_cache.json": '{{"AccessToken": {{"secret": "{secret}"}}}}\n',
    ".config/gcloud/application_default_credentials.json": '{{"refresh_token": "{secret}", "client_id": "{id}"}}\n',
    ".kube/config": "apiVersion: v1\nkind: Config\nusers: [{{name: u, user: {{token: {secret}}}}}]\n",
    ".lambda_cloud/lambda_keys": "api_key = {secret}\n",
    ".nebius/NEBIUS_IAM_TOKEN.txt": "{secret}\n",
    ".runpod/spare.toml": "[default]\napi_key = '{secret}'\n",
    ".shadeform/api_key": "{secret}\n",
    ".vast_api_key": "{secret}\n",
    ".config/gh/hosts.yml": "github.com: {{oauth_token: {secret}}}\n",
    ".git-credentials": "https://x:{secret}@github.com\n",
    ".netrc": "machine github.com login x password {secret}\n",
    ".cache/huggingface/token": "{secret}",
    ".sky/service_account_token": "{secret}\n",
    ".sky/spare_client/ssh/sky-key": "{secret}\n",
    ".ssh/id_ed25519": "{secret}\n",
}
VARIABLES = (
    "ANTHROPIC_API_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AZURE_CLIENT_SECRET",
    "GH_TOKEN",
    "HF_TOKEN",
    "NEBIUS_IAM_TOKEN",
    "OPENAI_API_KEY",
    "SHADEFORM_API_KEY",
    "SKYPILOT_DB_CONNECTION_URI_SPARE",
    "VAST_API_KEY",
    "WANDB_API_KEY",
)
_SEARCH = r"""
values() {{ printf %s {encoded} | base64 -d; }}
values | timeout {seconds} grep -raoF --devices=skip --exclude-dir=proc --exclude-dir=sys -f - / 2> /dev/shm/unread
echo "files: $?"
sed 's/^/unread: /' /dev/shm/unread
for place in environ cmdline; do
  for file in /proc/[0-9]*/$place; do
    values | grep -aoF -f - "$file" /dev/null 2>/dev/null
  done
done
echo "processes: $(ls -d /proc/[0-9]* | wc -l)"
"""
"""``values`` come encoded, so that the search does not find itself."""


@dataclass
class Planted:
    """What was planted where: value -> place. Each runner gets its own, and all are looked for."""

    places: dict[str, str] = field(default_factory=dict)

    def furnish(self, runner: Path) -> Mapping[str, str]:
        """Put credentials into a runner's homes; return those of its environment."""
        for home in (runner / "home", runner / "skypilot"):
            for name, text in FILES.items():
                path = home / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text.format(id=self._value(f"{name} (id)"), secret=self._value(name)), encoding="utf-8")
        return {name: self._value(f"${name}") for name in VARIABLES}

    def _value(self, place: str) -> str:
        value = f"planted{secrets.token_hex(16)}"
        self.places[value] = place
        return value


def search_script(values: Iterable[str], seconds: int = 240) -> str:
    """Return the script that looks for these values in each file and each process of a machine."""
    encoded = base64.b64encode("\n".join(sorted(values)).encode()).decode()
    return _SEARCH.format(encoded=encoded, seconds=seconds)
