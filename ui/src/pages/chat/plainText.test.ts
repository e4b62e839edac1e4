import { describe, expect, it } from 'vitest';
import { plainText } from './plainText';

describe('a text for a screen reader', () => {
  it('has no Markdown signs', () => {
    const markdown =
      '# Title\n\n- **one** and _two_\n- [a link](https://a.example)\n\n> `code`\n\n```js\nlet x = 1;\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |';
    expect(plainText(markdown)).toBe('Title\none and two\na link\ncode\nlet x = 1;\na, b\n1, 2');
  });

  it('keeps signs that are part of the text', () => {
    expect(plainText('snake_case_name, 2 * 3 * 4, 5 > 3 and C#')).toBe('snake_case_name, 2 * 3 * 4, 5 > 3 and C#');
  });
});
