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

test('the reasons of an MCP server and of its account are translated', async () => {
  const ended = 'it ended or closed the connection';
  await vi.waitFor(() => expect(toldFailure(ended)).toBe('er hat sich beendet oder die Verbindung geschlossen'));
  for (const [said, gesagt] of [
    ['it did not respond within 30 seconds', 'er hat nicht innerhalb von 30 Sekunden geantwortet'],
    [
      'its URL cannot be called: no response in time',
      'seine URL kann nicht aufgerufen werden: keine rechtzeitige Antwort',
    ],
    [
      'its program cannot be started: entity not found',
      'sein Programm kann nicht gestartet werden: es wurde nicht gefunden',
    ],
    [
      'the environment variable A, named in `env` of this server, is not in the vault; set it with env.set',
      'die Umgebungsvariable A, die `env` dieses Servers nennt, ist nicht im Tresor; setzen Sie sie mit env.set',
    ],
    [
      'there is no access token for it: The authorization server answered with the status 500',
      'es gibt kein Zugriffstoken für ihn: Der Autorisierungsserver hat mit dem Status 500 geantwortet',
    ],
    [
      'The MCP server refused a new access token. Connect again.',
      'Der MCP-Server hat ein neues Zugriffstoken abgelehnt. Verbinden Sie ihn neu.',
    ],
  ] as const) {
    expect(toldFailure(said)).toBe(gesagt);
  }
});
