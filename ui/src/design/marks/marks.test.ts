import { expect, test } from 'vitest';
import { ALL, vendorOf } from './marks';

test('a vendor is found by the ID of a profile, of a channel type and by a display name', () => {
  expect(vendorOf('codehost_a')?.name).toBe('GitHub');
  expect(vendorOf('telegram')?.name).toBe('Telegram');
  expect(vendorOf('Google Cloud')?.name).toBe('Google');
  expect(vendorOf('ElevenLabs')?.name).toBe('ElevenLabs');
  expect(vendorOf('uptime_kuma')?.name).toBe('Uptime Kuma');
  expect(vendorOf('alertmanager')?.name).toBe('Prometheus');
  expect(vendorOf('discord_interactions')?.name).toBe('Discord');
});

test('who is unknown has no mark', () => {
  for (const named of ['', 'generic', 'OpenAI', 'slack', 'constructor', 'email']) expect(vendorOf(named)).toBeNull();
});

test('every mark is a path', () => {
  for (const name of ALL) expect(vendorOf(name)?.path).toMatch(/^[Mm][\d.\s-]/);
});
