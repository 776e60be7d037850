#!/usr/bin/env bash
set -euo pipefail
MODEL=meta-llama/Llama-3.1-8B-Instruct
vllm serve $MODEL \
  --dtype bfloat16 \
  --max-model-len 8192 \
  --port 8000
