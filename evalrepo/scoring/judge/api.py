"""A judge that is a model behind an API, through pydantic-ai (extra `judge`): a request a try, no tools, no memory."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from evalrepo.errors import HarnessError
from evalrepo.records.config import PROVIDERS
from evalrepo.scoring.judge.voting import NoReply, Reply

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse
    from pydantic_ai.models import Model

INSTALL = "pip install 'evalrepo[judge]'"


@dataclass(frozen=True)
class ApiJudge:
    """`model` is PROVIDER:NAME; `env` has the key; `base_url` None is the vendor's. `settings`: pydantic-ai's own."""

    model: str
    env: Mapping[str, str]
    base_url: str | None = None
    timeout_s: float = 120.0
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> Literal["api"]:
        """A model behind an API."""
        return "api"

    def name(self, model: str | None) -> str:
        """PROVIDER:NAME."""
        return model or self.model

    def __call__(self, prompt: str, model: str | None) -> Reply:
        """One request. NoReply for whatever keeps an answer away: a key, the network, a limit, the provider."""
        try:
            require(self.name(model), self.env)
            return asyncio.run(asyncio.wait_for(self._ask(prompt, self.name(model)), self.timeout_s))
        except HarnessError as error:
            raise NoReply(str(error)) from None
        except TimeoutError:
            raise NoReply(f"the judge did not answer within {self.timeout_s:g} s") from None

    async def _ask(self, prompt: str, name: str) -> Reply:
        from pydantic_ai.direct import model_request
        from pydantic_ai.exceptions import AgentRunError, UserError
        from pydantic_ai.messages import ModelRequest
        from pydantic_ai.models import create_async_httpx2_client

        settings: Any = {"timeout": self.timeout_s, **self.settings}
        try:
            async with create_async_httpx2_client(timeout=self.timeout_s) as client:
                asked = _model(name, self.env, self.base_url, client)
                response = await model_request(asked, [ModelRequest.user_text_prompt(prompt)], model_settings=settings)
        except (AgentRunError, UserError) as error:
            raise NoReply(f"{name}: {' '.join(str(error).split())[:200]}") from None
        return _reply(response)


def require(name: str, env: Mapping[str, str]) -> None:
    """HarnessError: the extra is not installed, the name is no PROVIDER:NAME that is known, or its key is missing."""
    provider, _, model = name.partition(":")
    if provider not in PROVIDERS or not model:
        raise HarnessError(
            f"the judge's model {name} is not PROVIDER:NAME with a provider of {', '.join(PROVIDERS)}",
            hint="judge: {model: anthropic:claude-sonnet-4-5}; any other model can be asked by `command`",
        )
    try:
        import anthropic  # noqa: F401
        import openai  # noqa: F401
        import pydantic_ai  # noqa: F401
    except ImportError as error:
        raise HarnessError(
            f"a judge by API needs the package {error.name}, which is not installed", hint=INSTALL
        ) from None
    if not env.get(PROVIDERS[provider]):
        raise HarnessError(
            f"the judge {name} has no key: {PROVIDERS[provider]} is not set",
            hint=f"export {PROVIDERS[provider]}=…, then run again",
        )


def _model(name: str, env: Mapping[str, str], base_url: str | None, client: Any) -> Model:
    provider, _, model = name.partition(":")
    key = env[PROVIDERS[provider]]
    if provider == "anthropic":
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        return AnthropicModel(model, provider=AnthropicProvider(api_key=key, base_url=base_url, http_client=client))
    from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
    from pydantic_ai.providers.openai import OpenAIProvider

    known = OpenAIProvider(api_key=key, base_url=base_url or "https://api.openai.com/v1", http_client=client)
    return (OpenAIChatModel if provider == "openai-chat" else OpenAIResponsesModel)(model, provider=known)


def _reply(response: ModelResponse) -> Reply:
    usage = response.usage
    return Reply(
        text=response.text or "",
        model=response.model_name or "",
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost_usd=_cost(response),
    )


def _cost(response: ModelResponse) -> float | None:
    """By the price list of genai-prices; None for a model that it does not know, or no usage."""
    try:
        return float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError):
        return None
