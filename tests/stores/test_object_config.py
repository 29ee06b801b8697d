"""How stores are configured in processes that tasks and datasets are sent to."""

from __future__ import annotations

import secrets

from tfrkit.stores.object_config import adopt_settings, all_settings, configure_store, options_of


def test_what_was_adopted_is_replaced_and_what_was_configured_stays():
    one, two = (f"s3://bucket-{secrets.token_hex(4)}" for _ in range(2))
    configure_store(one, region="here")
    for token in ("token-number-1", "token-number-2"):
        adopt_settings({one: ({"region": token}, None), two: ({"session_token": token}, True)})
        assert options_of(one).config == {"region": "here"}
        assert (options_of(two).config, options_of(two).cache) == ({"session_token": token}, True)
    configure_store(two, region="here")
    adopt_settings({two: ({"session_token": "third"}, None)})
    assert options_of(two).config == {"region": "here"}
    assert all_settings()[two] == ({"region": "here"}, None)


def test_same_settings_again_keep_the_client():
    url = f"s3://bucket-{secrets.token_hex(4)}"
    adopt_settings({url: ({"region": "here"}, None)})
    before = options_of(url)
    adopt_settings({url: ({"region": "here"}, None)})
    assert options_of(url) is before
