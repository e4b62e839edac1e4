import { describe, expect, test } from 'vitest';
import { faultsOfCatalog, faultsOfLanguage, spoken, unregional } from './check-messages.mjs';

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
    expect(faultsOfLanguage({ a: 'A', c: 'C' }, { $schema: 'x', a: 'A', b: 'B' })).toEqual([
      'lacks `b`',
      'has `c`, which the first language has not',
    ]);
  });

  test('a text with other placeholders, another without words, and one without its plural', () => {
    const plural = [{ match: { 'many=one': '1 key', 'many=other': '{count} keys' } }];
    const base = { a: '{name} saved', b: 'Save', c: plural, d: plural };
    const texts = { a: '{nam} gespeichert', b: ' ', c: '{count} Schlüssel', d: plural };
    expect(faultsOfLanguage(texts, base)).toEqual([
      '`a` has the placeholders “{nam}” instead of “{name}”',
      '`b` is empty',
      '`c` has the variants “” instead of “many=one many=other”',
    ]);
  });

  test('formats without the region', () => {
    expect(
      unregional('a.toLocaleString(undefined); new Intl.DateTimeFormat(); new Intl.DateTimeFormat(regional())'),
    ).toEqual(['.toLocaleString(', 'new Intl.DateTimeFormat()']);
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
