//! Test texts with their visible text and the tag that they yield.

/// A persona and parts.
pub(super) type Says = Option<(Option<&'static str>, &'static [&'static str])>;

/// The whole text, without a persona.
const PLAIN: Says = Some((None, &[]));

/// The text, its visible part, and its tag.
pub(super) const CASES: &[(&str, &str, Says)] = &[
    ("Hello", "Hello", None),
    ("", "", None),
    ("[[tts]]", "", PLAIN),
    ("[[tts]] Hello", "Hello", PLAIN),
    ("Hello [[tts]]", "Hello", PLAIN),
    ("Hello [[tts]] world", "Hello world", PLAIN),
    ("Hello[[tts]]world", "Helloworld", PLAIN),
    ("Hello[[tts]] world", "Hello world", PLAIN),
    ("Hello [[tts]]world", "Hello world", PLAIN),
    ("Hello  [[tts]]  world", "Hello world", PLAIN),
    (
        "a [[tts]] [[tts:persona=x]] b",
        "a b",
        Some((Some("x"), &[])),
    ),
    (
        "[[tts:persona=a]][[tts:persona=b]]",
        "",
        Some((Some("a"), &[])),
    ),
    ("[[ tts ]]x", "x", PLAIN),
    (
        "[[\ttts : persona = Ada.L_1-2 ]]x",
        "x",
        Some((Some("Ada.L_1-2"), &[])),
    ),
    ("Über 👩‍👧 [[tts]] ñ", "Über 👩‍👧 ñ", PLAIN),
    // Lines.
    ("One\n[[tts]]\nTwo", "One\nTwo", PLAIN),
    ("One\n\n[[tts]]\n\nTwo", "One\n\nTwo", PLAIN),
    ("One\n\n[[tts]]\nTwo", "One\n\nTwo", PLAIN),
    ("One\n[[tts]]\n\nTwo", "One\n\nTwo", PLAIN),
    ("One\r\n[[tts]]\r\nTwo", "One\r\nTwo", PLAIN),
    ("One [[tts]]\r\nTwo", "One\r\nTwo", PLAIN),
    ("One [[tts]]\n  Two", "One\n  Two", PLAIN),
    ("One\n[[tts]] Two", "One\nTwo", PLAIN),
    ("One\n  [[tts]]\n   Two", "One\n   Two", PLAIN),
    ("\n\n[[tts]]\n\nTwo", "Two", PLAIN),
    ("One\n\n[[tts]]\n", "One", PLAIN),
    ("One\n\n", "One\n\n", None),
    ("  One ", "  One ", None),
    // Parts.
    (
        "Hi. [[tts]]Say this.[[/tts]] Bye.",
        "Hi. Say this. Bye.",
        Some((None, &["Say this."])),
    ),
    (
        "[[tts:persona=x]] a [[/tts]] b [[tts]]c[[/tts]]",
        "a b c",
        Some((Some("x"), &["a", "c"])),
    ),
    (
        "[[tts]] a [[tts]]b[[ /tts ]] c",
        "a b c",
        Some((None, &["b"])),
    ),
    (
        "[[tts]]a[[/tts]] b [[tts]] c",
        "a b c",
        Some((None, &["a"])),
    ),
    ("[[tts]] [[/tts]] b", "b", PLAIN),
    ("a [[/tts]] b", "a b", None),
    (
        "[[tts]]a `[[/tts]]` b[[/tts]]",
        "a `[[/tts]]` b",
        Some((None, &["a `[[/tts]]` b"])),
    ),
    // Text that only resembles a marker.
    (
        "[[ttsx]] [[tts:persona=]] [[tts:persona=a b]]",
        "[[ttsx]] [[tts:persona=]] [[tts:persona=a b]]",
        None,
    ),
    (
        "[[tts:voice=x]] [[TTS]] [tts] [[t ts]] [[tts] ]",
        "[[tts:voice=x]] [[TTS]] [tts] [[t ts]] [[tts] ]",
        None,
    ),
    ("a [[tts", "a [[tts", None),
    ("a [[tts]", "a [[tts]", None),
    ("[[\ntts]]", "[[\ntts]]", None),
    ("[[[tts]]]", "[]", PLAIN),
    ("[[tts[[tts]]", "[[tts", PLAIN),
    // Markers formed by removing another one.
    ("[[t[[tts]]ts]]", "[[tts]", PLAIN),
    ("[[ [[tts]] tts ]] x", "[[ tts ] x", PLAIN),
    // Spans.
    ("`[[tts]]`", "`[[tts]]`", None),
    ("`` ` [[tts]] ``", "`` ` [[tts]] ``", None),
    ("a ` b [[tts]] c", "a ` b c", PLAIN),
    ("a ` b [[tts]] c ` d", "a ` b [[tts]] c ` d", None),
    ("a ` b\n[[tts]] c ` d", "a ` b\n[[tts]] c ` d", None),
    ("a ` b\n\n[[tts]] c ` d", "a ` b\n\nc ` d", PLAIN),
    ("a ` b [[tts]]\n\nc ` d", "a ` b\n\nc ` d", PLAIN),
    ("a ` b `` [[tts]] `` c", "a ` b `` [[tts]] `` c", None),
    (
        "a `` b ` [[tts]] ` c [[tts]]",
        "a `` b ` [[tts]] ` c",
        PLAIN,
    ),
    ("a `` b [[tts]] ` c", "a `` b ` c", PLAIN),
    ("\\` [[tts]] `", "\\` `", PLAIN),
    ("\\\\` [[tts]] `", "\\\\` [[tts]] `", None),
    ("`a\\` [[tts]]", "`a\\`", PLAIN),
    ("\\`` [[tts]] `", "\\`` [[tts]] `", None),
    ("- a ` b\n- [[tts]] ` c", "- a ` b\n- ` c", PLAIN),
    ("# a ` b\n[[tts]] ` c", "# a ` b\n` c", PLAIN),
    ("a ` b\n# [[tts]] c `", "a ` b\n# c `", PLAIN),
    ("a ` b\n---\n[[tts]] c `", "a ` b\n---\nc `", PLAIN),
    ("a ` b\n> [[tts]] c `", "a ` b\n> c `", PLAIN),
    ("> a ` b\n> [[tts]] c `", "> a ` b\n> [[tts]] c `", None),
    (
        "was\n1986. a ` b\n1987. [[tts]] c `",
        "was\n1986. a ` b\n1987. [[tts]] c `",
        None,
    ),
    // Fences.
    ("```\n[[tts]]\n```\n", "```\n[[tts]]\n```\n", None),
    ("```\n[[tts]]\n```\n[[tts]]", "```\n[[tts]]\n```\n", PLAIN),
    (
        "```\n[[tts]]\n```\n[[tts]]\nEnd",
        "```\n[[tts]]\n```\nEnd",
        PLAIN,
    ),
    (
        "```\n[[tts]]\n``\n[[tts]]",
        "```\n[[tts]]\n``\n[[tts]]",
        None,
    ),
    (
        "````\n```\n[[tts]]\n````\n[[tts]]",
        "````\n```\n[[tts]]\n````\n",
        PLAIN,
    ),
    ("```\na\n`````\n[[tts]]b", "```\na\n`````\nb", PLAIN),
    ("``` sh [[tts]]\nx\n```\n", "``` sh [[tts]]\nx\n```\n", None),
    ("``` sh [[tts]]", "``` sh [[tts]]", None),
    ("``` a ``` [[tts]]", "``` a ```", PLAIN),
    ("``` [[tts]] ``` b", "``` [[tts]] ``` b", None),
    ("``` [[tts]] ` b", "``` ` b", PLAIN),
    (
        "~~~ a ` [[tts]]\n[[tts]]\n~~~\n[[tts]]",
        "~~~ a ` [[tts]]\n[[tts]]\n~~~\n",
        PLAIN,
    ),
    (
        "~~~[[tts]] `\n[[tts]]\n~~~",
        "~~~[[tts]] `\n[[tts]]\n~~~",
        None,
    ),
    (
        "~~~\n```\n[[tts]]\n~~~~  \nb [[tts]]",
        "~~~\n```\n[[tts]]\n~~~~  \nb",
        PLAIN,
    ),
    (
        "   ```\n[[tts]]\n   ```\nb[[tts]]",
        "   ```\n[[tts]]\n   ```\nb",
        PLAIN,
    ),
    ("    ```\n[[tts]]", "    ```", PLAIN),
    (
        "```\n[[tts]]\n    ```\n[[tts]]",
        "```\n[[tts]]\n    ```\n[[tts]]",
        None,
    ),
    (
        "a ` b\n```\n[[tts]] `\n```\nc [[tts]]",
        "a ` b\n```\n[[tts]] `\n```\nc",
        PLAIN,
    ),
    (
        "a ` [[tts]] b\n```\n[[tts]]\n```\nc",
        "a ` b\n```\n[[tts]]\n```\nc",
        PLAIN,
    ),
    (
        "a ``` b\n``` [[tts]] c\n[[tts]]\n```\nd",
        "a ``` b\n``` [[tts]] c\n[[tts]]\n```\nd",
        None,
    ),
    (
        "1. Do\n   ```sh\n   [[tts]]\n   ```\n   [[tts]] x",
        "1. Do\n   ```sh\n   [[tts]]\n   ```\n   x",
        PLAIN,
    ),
    (
        "10. Do\n\n    ```sh\n    [[tts]]\n    ```\n",
        "10. Do\n\n    ```sh\n    [[tts]]\n    ```\n",
        None,
    ),
    (
        "- a\n  ```\n  [[tts]]\nb [[tts]]",
        "- a\n  ```\n  [[tts]]\nb",
        PLAIN,
    ),
    (
        "- ```\n  [[tts]]\n  ```\n- b [[tts]]",
        "- ```\n  [[tts]]\n  ```\n- b",
        PLAIN,
    ),
    (
        "> ```\n> [[tts]]\n> ```\n> a [[tts]]",
        "> ```\n> [[tts]]\n> ```\n> a",
        PLAIN,
    ),
    ("> ```\n> [[tts]]\na [[tts]]", "> ```\n> [[tts]]\na", PLAIN),
    (
        "> a\n```\n[[tts]]\n```\nb [[tts]]",
        "> a\n```\n[[tts]]\n```\nb",
        PLAIN,
    ),
    (
        "[[tts]] ```\n[[tts]]\n```\nb",
        "```\n[[tts]]\n```\nb",
        PLAIN,
    ),
    (
        "[[tts]]     ```\n[[tts]]\n```\nb",
        "```\n[[tts]]\n```\nb",
        PLAIN,
    ),
    (
        "```\r\n[[tts]]\r\n```\r\na [[tts]]",
        "```\r\n[[tts]]\r\n```\r\na",
        PLAIN,
    ),
    // The backticks after a marker in code do not close the block.
    (
        "```\n[[tts]]```\n[[tts]]\n```\na",
        "```\n[[tts]]```\n[[tts]]\n```\na",
        None,
    ),
    ("> ```\n[[tts]]> a", "> ```\n> a", PLAIN),
    (
        "1. a\n\n   - ```\n     [[tts]]\n     ```\n   [[tts]]b",
        "1. a\n\n   - ```\n     [[tts]]\n     ```\n   b",
        PLAIN,
    ),
    (
        "    a `[[tts]]`\n    [[tts]]b",
        "    a `[[tts]]`\n    b",
        PLAIN,
    ),
];
