import { expect, test } from 'vitest';
import { ALL, vendorOf } from './marks';
import { SENDERS } from './senders';

test('a vendor is found by the ID of a channel type and by a display name', () => {
  expect(vendorOf('telegram')?.name).toBe('Telegram');
  expect(vendorOf('Google Cloud')?.name).toBe('Google');
  expect(vendorOf('ElevenLabs')?.name).toBe('ElevenLabs');
  expect(vendorOf('Discord')?.name).toBe('Discord');
});

test('a sender whose folder has a mark is found by its ID', () => {
  for (const id of [
    'uptime_kuma',
    'codehost_a',
    'payments',
    'alertmanager',
    'discord_interactions',
    'jira',
    'lemon_squeezy',
  ]) {
    expect(vendorOf(id)?.path, id).toBe(SENDERS[id]);
    expect(SENDERS[id], id).toBeDefined();
  }
});

test('who is unknown has no mark', () => {
  for (const named of ['', 'generic', 'OpenAI', 'slack', 'constructor', 'email']) expect(vendorOf(named)).toBeNull();
});

test('every mark is a path', () => {
  for (const name of ALL) expect(vendorOf(name)?.path).toMatch(/^[Mm][\d.\s-]/);
});
