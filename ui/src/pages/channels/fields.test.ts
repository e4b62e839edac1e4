import { expect, test } from 'vitest';
import { isOptional, visibleFields } from './fields';

const field = (name: string) => ({
  name,
  label: `Label of ${name}`,
  secret: false,
  required: false,
  per_message: false,
  help: `${name}!`,
});

test('what concerns receiving is shown only while it is on', () => {
  const fields = ['host', 'inbound', 'imap_host'].map(field);
  expect(visibleFields(fields, false).map(({ name }) => name)).toEqual(['host', 'inbound']);
  expect(visibleFields(fields, true)).toEqual(fields);
  expect(visibleFields(fields.slice(0, 1), false)).toHaveLength(1);
});

test('a field that each message needs is not optional, though the gateway does not require it', () => {
  expect(isOptional({ ...field('topic'), per_message: true })).toBe(false);
  expect(isOptional(field('token'))).toBe(true);
  expect(isOptional({ ...field('room_id'), required: true })).toBe(false);
});
