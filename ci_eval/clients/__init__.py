"""One door per SDK."""
