import { expect, test, vi } from 'vitest';
import { toldFailure } from './failures.svelte';

vi.mock(import('../paraglide/runtime.js'), async (original) => ({ ...(await original()), getLocale: () => 'de' }));

test('a failure is translated with the number of attempts after it', async () => {
  const answers = 'Slack did not respond in time.';
  await vi.waitFor(() => expect(toldFailure(answers)).toBe('Slack hat nicht rechtzeitig geantwortet.'));
  expect(toldFailure(`${answers} It was tried 12 times.`)).toBe(
    'Slack hat nicht rechtzeitig geantwortet. Es gab 12 Versuche.',
  );
  expect(toldFailure(`${answers} It was tried 1 times.`)).toBe(
    'Slack hat nicht rechtzeitig geantwortet. Es gab 1 Versuch.',
  );
  expect(
    toldFailure(
      'Someone wrote in an encrypted Matrix group. Its messages cannot be read. Invite the bot to a room without encryption.',
    ),
  ).toContain('verschlüsselten Matrix-Gruppe');
  expect(
    toldFailure(
      'The channel My bot (2) already receives these messages. Turn off receiving in one of the two channels.',
    ),
  ).toContain('Der Kanal My bot (2) empfängt');
  expect(toldFailure('Slack refused the bot token (token_revoked). Check it and its scopes.')).toContain(
    'Bot-Token abgelehnt (token_revoked)',
  );
  expect(toldFailure('Something else. It was tried 2 times.')).toBe('Something else. Es gab 2 Versuche.');
  expect(toldFailure('Calling the HTTP receiver failed: the connection was interrupted.')).toBe(
    'Der Aufruf bei dem HTTP-Empfänger ist fehlgeschlagen: die Verbindung wurde unterbrochen.',
  );
  for (const [is, ist] of [
    ['equals "main"', 'ist gleich "main"'],
    ['does not equal "a: b"', 'ist nicht gleich "a: b"'],
    ['contains 3', 'enthält 3'],
    ['exists', 'ist vorhanden'],
    ['is missing', 'fehlt'],
    ['is greater than 1.5', 'ist größer als 1.5'],
    ['is less than -1', 'ist kleiner als -1'],
  ]) {
    expect(toldFailure(`The payload filter is not met: a.0.b ${is}.`)).toBe(
      `Der Payload-Filter ist nicht erfüllt: a.0.b ${ist}.`,
    );
  }
});
