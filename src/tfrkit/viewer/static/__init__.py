"""The page: HTML, CSS and JavaScript modules, served as they are. No Python lives here."""
