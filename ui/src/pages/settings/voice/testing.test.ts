import { expect, it } from 'vitest';
import { silence } from './testing';

it('is a WAV file of one second', () => {
  const bytes = Buffer.from(silence(), 'base64');
  expect(bytes.length).toBe(44 + 32_000);
  expect(bytes.subarray(0, 4).toString()).toBe('RIFF');
  expect(bytes.readUInt32LE(4)).toBe(bytes.length - 8);
  expect(bytes.readUInt32LE(24)).toBe(16_000);
  expect(bytes.readUInt32LE(40)).toBe(32_000);
  expect(bytes.subarray(44).every((byte) => byte === 0)).toBe(true);
});
