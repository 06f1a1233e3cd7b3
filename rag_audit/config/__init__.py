"""The settings of a project: read from every source, checked, and described."""

from rag_audit.config.loading import CONFIG_FILE, load_settings, redact_of_environment, variable_of
from rag_audit.config.reference import config_template, settings_reference

__all__ = [
    "CONFIG_FILE",
    "config_template",
    "load_settings",
    "redact_of_environment",
    "settings_reference",
    "variable_of",
]
