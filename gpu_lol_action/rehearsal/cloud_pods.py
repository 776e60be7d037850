"""Renting and ending pods: an order becomes a sandbox with public ports, and a bill when it ends."""

from __future__ import annotations

import asyncio
import json
import re
import secrets
import string
import subprocess
import threading
import time
from collections.abc import Mapping
from datetime import datetime, timezone
from decimal import Decimal
from pathlib import Path

from gpu_lol_action.rehearsal.catalog import RentedGpu
from gpu_lol_action.rehearsal.cloud_account import Account, Pod
from gpu_lol_action.rehearsal.pod import PodSpec, remove_folder, start_pod, stop_process
from gpu_lol_action.rehearsal.pod_network import Network, PortForwarder, public_port, tool

DRIVER_VERSION = "580.95.05"
_DRIVER_CUDA = "13.0"
_FALLBACK_TORCH, _FALLBACK_CUDA = "2.8.0", "12.8"


class PodHouse:
    """All sandboxes of one loopback cloud."""

    def __init__(
        self, account: Account, image: Path, state: Path, network: Network, api_port: int, boot_delay: float
    ) -> None:
        """Keep where things are; ``boot_delay`` is how many seconds a pod takes before it exists."""
        self._account, self._image, self._state, self._network = account, image, state, network
        self._api_port, self._boot_delay = api_port, boot_delay
        self._ports = PortForwarder()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._servers: dict[str, list[asyncio.AbstractServer]] = {}
        self._lock = threading.RLock()

    def rent(self, request: Mapping[str, object], gpu: RentedGpu, count: int, *, is_spot: bool) -> Pod:
        """Take an order; the pod exists at once and boots in the background, as on the real cloud."""
        pod_id = "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(14))
        bid = Decimal(str(request.get("bidPerGpu") or 0)) * count
        with self._account.lock:
            pod = Pod(
                pod_id=pod_id,
                number=self._account.free_number(),
                request=request,
                gpu=gpu,
                gpu_count=count,
                price_usd_per_hour=bid if is_spot and bid else gpu.price_usd_per_hour(count),
                api_key=f"rpa_POD_{secrets.token_hex(16)}",
                folder=self._state / "pods" / pod_id,
                created_at=datetime.now(timezone.utc),
                is_spot=is_spot,
            )
            self._account.pods[pod_id] = pod
        threading.Thread(target=self._boot, args=(pod,), name=f"boot-{pod_id}", daemon=True).start()
        return pod

    def _boot(self, pod: Pod) -> None:
        fault = self._account.take_fault("boot", pod.request)
        time.sleep(self._boot_delay + (fault.delay_seconds if fault else 0))
        try:
            if fault is not None and fault.message:
                pod.status = "EXITED"  # its host failed, or somebody outbid it
                return
            with self._lock:  # a pod that was ended while it booted must not come to life
                if pod.pod_id not in self._account.pods:
                    return
                self._processes[pod.pod_id] = start_pod(self._spec(pod))
                self._note_processes()
                pod.status = "RUNNING"
                pod.ports = self._open_ports(pod)
        except Exception as problem:  # noqa: BLE001 -- a thread's last word: the pod shows as exited, the reason is in the log
            pod.status = "EXITED"
            self._account.log({"event": "pod_did_not_start", "pod": pod.pod_id, "problem": repr(problem)})
            self._account.note_unexpected(f"pod {pod.pod_id} did not start: {problem}")

    def _spec(self, pod: Pod) -> PodSpec:
        environment = {
            "RUNPOD_POD_ID": pod.pod_id,
            "RUNPOD_API_KEY": pod.api_key,
            "RUNPOD_GPU_COUNT": str(pod.gpu_count),
            "RUNPOD_CPU_COUNT": str(int(pod.gpu.vcpus * pod.gpu_count)),
            "RUNPOD_PUBLIC_IP": "127.0.0.1",
            "RUNPOD_DC_ID": str(pod.request.get("dataCenterId") or "").split(",")[0],
            "RUNPOD_API_BASE_URL": f"http://{self._network.gateway}:{self._api_port}",
            "PUBLIC_KEY": self._account.public_key,
        }
        orders = pod.request.get("env")
        for pair in orders if isinstance(orders, list) else []:
            environment[str(pair["key"])] = str(pair["value"])
        command = str(pod.request.get("dockerArgs") or "sleep infinity")
        stand_in = {**stand_in_facts(pod), **self._account.stand_in}
        return PodSpec(pod.pod_id, pod.number, self._image, pod.folder, self._network, command, environment, stand_in)

    def _open_ports(self, pod: Pod) -> list[dict[str, object]]:
        address = self._network.address(pod.number)
        shown: list[dict[str, object]] = []
        for port in str(pod.request.get("ports") or "22/tcp").split(","):
            private, _, kind = port.partition("/")
            entry: dict[str, object] = {"privatePort": int(private), "type": kind}
            if kind == "tcp":
                server = self._ports.open(address, int(private))
                self._servers.setdefault(pod.pod_id, []).append(server)
                entry |= {"ip": "127.0.0.1", "isIpPublic": True, "publicPort": public_port(server)}
            else:
                entry |= {"ip": address, "isIpPublic": False, "publicPort": 60000 + pod.number}
            shown.append(entry)
        return shown

    def stop(self, pod: Pod) -> None:
        """End the sandbox, keep the pod on the list as exited (as when the host reboots)."""
        with self._lock:
            process = self._processes.pop(pod.pod_id, None)
            for server in self._servers.pop(pod.pod_id, []):
                self._ports.close(server)
            if process is not None:
                stop_process(process)
                # The kernel takes the cable away a moment after the namespace; the next pod may want its name.
                tool("ip", "link", "del", f"glh-{self._network.tag}-{pod.number}", check=False)
            pod.status, pod.ports = "EXITED", []
            self._note_processes()

    def end(self, pod: Pod, why: str) -> None:
        """End the sandbox, write the bill, keep the console log."""
        self.stop(pod)
        bill = self._account.close_pod(pod, why)
        log = pod.folder / "container.log"
        if log.exists():
            gone = self._state / "gone"
            gone.mkdir(exist_ok=True)
            (gone / f"{pod.pod_id}.log").write_bytes(log.read_bytes())
        remove_folder(pod.folder)
        self._account.log({"event": "pod_ended", "pod": pod.pod_id, "why": why, "usd": str(bill.usd)})

    def end_all(self, why: str) -> None:
        """End every pod."""
        for pod in list(self._account.pods.values()):
            self.end(pod, why)

    def _note_processes(self) -> None:
        """Write down which processes are ours, for the clean-up after a crash."""
        (self._state / "processes.json").write_text(json.dumps([process.pid for process in self._processes.values()]))


def stand_in_facts(pod: Pod) -> dict[str, object]:
    """Return what the pod's stand-ins claim: the GPU that was rented, and the torch that the image's name promises."""
    torch, cuda = parse_image_versions(str(pod.request.get("imageName") or ""))
    return {
        "stand_in": True,
        "pod_id": pod.pod_id,
        "gpu_name": pod.gpu.gpu_type_id,
        "gpu_count": pod.gpu_count,
        "memory_mib": pod.gpu.memory_mib,
        "memory_used_mib": 0,
        "compute_capability": pod.gpu.compute_capability,
        "driver_version": DRIVER_VERSION,
        "cuda_version": _DRIVER_CUDA,
        "torch_version": f"{torch}+cu{cuda.replace('.', '')}",
        "torch_cuda_version": cuda,
        "is_cuda_available": True,
        "matmul_error": 0.0,
    }


def parse_image_versions(image: str) -> tuple[str, str]:
    """Return the torch and CUDA versions that a container image's name states, or common ones where it does not.

    ``runpod/pytorch:2.4.0-py3.11-cuda12.4.1-devel-ubuntu22.04`` gives ``2.4.0`` and ``12.4``; ``...-cu1281-torch280-...``
    gives ``2.8.0`` and ``12.8``.
    """
    compact_torch = re.search(r"torch(\d)(\d{1,2})(\d)\b", image)
    torch = compact_torch or re.search(r"torch[:-]v?(\d+)\.(\d+)\.(\d+)", image)
    cuda = re.search(r"cuda[:-]?(\d+)\.(\d+)", image) or re.search(r"cu(\d\d)(\d)\d?\b", image)
    return (".".join(torch.groups()) if torch else _FALLBACK_TORCH), (
        ".".join(cuda.groups()) if cuda else _FALLBACK_CUDA
    )
