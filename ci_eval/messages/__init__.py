"""Any vendor's messages -> the domain's messages."""
