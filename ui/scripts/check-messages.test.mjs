import { describe, expect, test } from 'vitest';
import { faultsOfCatalog, faultsOfLanguage, spoken } from './check-messages.mjs';

describe('the check of the catalog', () => {
  test('a text that nothing says', () => {
    expect(faultsOfCatalog(['a_one', 'a_two'], ['m.a_one()', "'a_two'"])).toEqual(['nothing says `a_two`']);
  });

  test('a key that is part of another is no use of it', () => {
    expect(faultsOfCatalog(['a', 'a_b'], ['m.a_b()'])).toEqual(['nothing says `a`']);
  });

  test('keys out of order', () => {
    expect(faultsOfCatalog(['b', 'a'], ['m.a() m.b()'])).toEqual(['out of order from `b`, where `a` belongs']);
  });

  test('a language that lacks a text, and one that has too many', () => {
    expect(faultsOfLanguage(['a', 'c'], ['a', 'b'])).toEqual([
      'lacks `b`',
      'has `c`, which the first language has not',
    ]);
  });

  test('words, styles and raw HTML in a component', () => {
    const source = '<script>const a = "words";</script><p title="a word">{a} · hello <code>GET</code></p>';
    expect(spoken(source)).toEqual(['“a word”', '“· hello”']);
    expect(spoken('<p style="color: red">{@html a}</p>')).toEqual(['an inline style', '{@html}']);
    expect(spoken('<p class="one two" style:left="{a}rem"><input placeholder="X-Event-Type" />{m.a()}</p>')).toEqual(
      [],
    );
  });
});
