"""Ask the server a question."""

import sys

from openai import OpenAI

client = OpenAI(base_url="http://localhost:8000/v1", api_key="none")
answer = client.chat.completions.create(
    model="meta-llama/Llama-3.1-8B-Instruct", messages=[{"role": "user", "content": " ".join(sys.argv[1:])}]
)
print(answer.choices[0].message.content)
