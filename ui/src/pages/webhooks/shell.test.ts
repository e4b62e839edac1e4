import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import type { AuthModeInfo, ProfileInfo, Webhook } from '../../client/generated/rpc';
import { shellLines } from './shell';

const webhook = { url: 'https://gate.example/wh_1', auth: { header: 'X-Mine' } } as Webhook;
const profileWith = (sample: ProfileInfo['sample']) => ({ sample }) as ProfileInfo;
const modeWith = (shell: AuthModeInfo['shell']) => ({ id: 'static_header', shell }) as AuthModeInfo;
const plain = modeWith({ lines: [], headers: ['{header}: $SECRET'], body_time: 'at' });

/** The arguments that the commands pass to curl. */
function run(commands: string): string[] {
  const script = `curl() { printf '%s\\n' "$@"; }\ndate() { echo 17; }\n${commands}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8' }).trimEnd().split('\n');
}

it('sends the sample with the current time, without an old one', () => {
  const payload = { text: "it's $HOME", at: 1 };
  const profile = profileWith({ header: { name: 'X-Event', value: 'Push Hook' }, is_form: false, payload });
  expect(run(shellLines(webhook, profile, plain, "s'1"))).toEqual([
    '-H',
    'Content-Type: application/json',
    '-H',
    'X-Event: Push Hook',
    '-H',
    "X-Mine: s'1",
    '--data-binary',
    '{"sent":"17","text":"it\'s $HOME"}',
    'https://gate.example/wh_1',
  ]);
});

it('sends a form with the fields that its signature covers', () => {
  const profile = profileWith({ header: null, is_form: true, payload: { To: '+1', Body: 'a b' } });
  const signed = modeWith({ lines: ['SIGNATURE="$URL$FIELDS"'], headers: ['X-S: $SIGNATURE'], body_time: null });
  const sent = run(shellLines(webhook, profile, signed, 's'));
  expect(sent).toContain('To=%2B1&Body=a+b&sent=17');
  expect(sent).toContain('X-S: https://gate.example/wh_1Bodya bTo+1sent17');
});
