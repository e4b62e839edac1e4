import { expect, it } from 'vitest';
import { endsInString, parsePayload, variables } from './template';

it('offers the fields of a payload', () => {
  const fields = variables({ a: { b: 1 }, c: ['x'], 'no.dot': 1, '"': 2, d: null, e: {}, f: true });
  expect(fields).toEqual([
    { path: 'a.b', value: '1' },
    { path: 'c.0', value: 'x' },
    { path: 'd', value: 'null' },
    { path: 'f', value: 'true' },
  ]);
  expect(variables(parsePayload('[12, "y"]'))).toEqual([
    { path: '0', value: '12' },
    { path: '1', value: 'y' },
  ]);
  expect(variables(Array.from({ length: 61 }, String))).toHaveLength(60);
});

it('finds out where a placeholder needs quotes', () => {
  for (const outside of ['', '{"a": ', '{"a\\"": ', '["x\\\\", ']) expect(endsInString(outside), outside).toBe(false);
  for (const inside of ['"', '{"a": "b ', '"a\\"']) expect(endsInString(inside), inside).toBe(true);
});
