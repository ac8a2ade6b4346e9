"""Messages that are published name no folder of this machine."""

from benchmarks import places


def test_a_message_without_the_folders_of_this_machine():
    for folder, name in ((places.CACHE, "cache"), (places.SHARED, "shared"), (places.ROOT, ".")):
        message = f"bad file: {folder / 'a' / 'b.vocab'}"
        assert places.without_places(message) == f"bad file: {name}/a/b.vocab"
