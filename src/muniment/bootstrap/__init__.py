"""Build all components from the settings. Only this package names concrete adapters."""
