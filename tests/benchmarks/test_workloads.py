from benchmarks import workloads

TEXT = "".join(f"line {i} of the text, ünïcode included\n" for i in range(2000)) + "last"


def test_chunks_end_with_the_first_newline_past_4096_bytes():
    parts = workloads.chunks(TEXT)

    assert "".join(parts) == TEXT
    assert len(parts) > 10
    for part in parts[:-1]:
        data = part.encode()
        assert len(data) > 4096
        assert data.find(b"\n", 4096) == len(data) - 1


def test_chunks_of_a_text_without_newlines_are_the_text():
    assert workloads.chunks("x" * 10_000) == ["x" * 10_000]


def test_spread_takes_parts_from_all_over():
    parts = [str(i) for i in range(100)]

    assert workloads.spread(parts, 4) == ["0", "25", "50", "75"]
    assert workloads.spread(parts, 200) == parts


def test_slices_have_the_asked_length_and_number():
    found = workloads.slices(TEXT, 20, 64)

    assert len(found) == 64
    assert {len(part) for part in found} == {20}
    assert found[0] == TEXT[:20]


def test_rows_are_cut_lines_repeated_to_the_asked_number():
    found = workloads.rows("a\n\n  \n" + "b" * 500 + "\n", 5)

    assert found == ["a", "b" * 100, "a", "b" * 100, "a"]
