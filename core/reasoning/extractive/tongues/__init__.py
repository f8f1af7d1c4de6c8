"""Questions in other languages than English, read by tables of words and rules over spans."""
