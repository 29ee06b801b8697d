"""Credentials as users of boto, gcloud and az have them: what obstore does not find by itself, a file per cloud.

Each returns settings of obstore's store. Nothing here is kept, shown or sent anywhere else.
"""
