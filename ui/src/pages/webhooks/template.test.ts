import { describe, expect, it } from 'vitest';
import { parsePayload, render, variables } from './template';

const payload = parsePayload(
  '{"a":{"b":{"c":"deep"}},"n":1.5,"t":true,"z":null,"list":[{"name":"first"},"second"],"open":"{a.b.c}","empty":{},"none":[]}',
);

describe('a template', () => {
  it.each([
    ['{a.b.c}', 'deep'],
    ['{list.0.name}, {list.1}', 'first, second'],
    ['{n} {t} {z}', '1.5 true null'],
    ['{missing} {a.b.x} {list.01} {list.9}', '{missing} {a.b.x} {list.01} {list.9}'],
    ['{a.b}', '{"c":"deep"}'],
    ['{list}', '[{"name":"first"},"second"]'],
    ['{empty}{none}', '{}[]'],
    ['{open}', '{a.b.c}'],
    ['{ {n} }', '{ 1.5 }'],
    ['{n', '{n'],
    ['a } b {} c', 'a } b {} c'],
    ['{constructor} {__proto__}', '{constructor} {__proto__}'],
  ])('%s', (template, text) => expect(render(template, payload)).toBe(text));

  it('writes the whole with an indent of two, and cuts it', () => {
    expect(render('{__raw__}', { a: [1], b: {} })).toBe('{\n  "a": [\n    1\n  ],\n  "b": {}\n}');
    expect(render('{__raw__}', { a: 'ä'.repeat(9000) })).toHaveLength(4000);
    expect(render('{a}', { a: ['x'.repeat(9000)] })).toHaveLength(2000);
    expect(render('{a}', { a: 'x'.repeat(9000) })).toHaveLength(9000);
  });

  it('offers the fields of a payload', () => {
    expect(variables({ a: { b: 1 }, c: ['x'], 'no.dot': 1 }).map(({ path }) => path)).toEqual(['a.b', 'c.0']);
  });
});
