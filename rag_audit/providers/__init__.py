"""Everything that talks to a model: services over the network, and the offline stand-ins."""
