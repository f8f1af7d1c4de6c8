"""litellm, imported late and kept quiet: no cost-map download, no messages, no own retries."""

from __future__ import annotations

import logging
import os
import threading
from typing import Any

_LOCK = threading.Lock()
_loaded: Any = None


def load() -> Any:
    """The litellm module; the first call takes seconds."""
    global _loaded
    with _LOCK:
        if _loaded is None:
            os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
            import litellm

            litellm.suppress_debug_info = True
            litellm.turn_off_message_logging = True
            litellm.num_retries = 0
            for name in ("LiteLLM", "LiteLLM Proxy", "LiteLLM Router"):
                logging.getLogger(name).setLevel(logging.CRITICAL)
            _loaded = litellm
        return _loaded
