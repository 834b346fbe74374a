"""Files of rows -> cases, and recorded outputs -> replies."""
