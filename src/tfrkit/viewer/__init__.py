"""The viewer: what is in record files, in a browser.

A local web server: `app.py` has the routes, `security.py` decides which requests may come, `session.py` knows the
files, `shown/` makes what the page shows of them, and jobs count, search and check in the background. The page lies in
`static/`. Reading, searching, counting and decoding images are other parts' work. Only the command imports this.
"""
