// Shell commands that sign and send the sender's sample. They need curl, and openssl for signatures.
import type { AuthModeInfo, ProfileInfo, Webhook } from '../../client/generated/rpc';

/** Quotes text as a single shell word. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Placeholder for a secret that is not available. */
export const PLACEHOLDER = 'put-the-secret-here';

/** Returns the shell commands. `secret` is null if it is not available. */
export function shellLines(webhook: Webhook, profile: ProfileInfo, mode: AuthModeInfo, secret: string | null): string {
  const { sample } = profile;
  const { lines, headers, body_time } = mode.shell;
  const payload = Object.fromEntries(Object.entries(sample.payload).filter(([name]) => name !== body_time));
  const event = webhook.event_header
    ? [`${webhook.event_header}: test`]
    : sample.header
      ? [`${sample.header.name}: ${sample.header.value}`]
      : [];
  const proof = headers.map((one) => one.replace('{header}', webhook.auth.header ?? 'X-Webhook-Secret'));
  const type = sample.is_form ? 'application/x-www-form-urlencoded' : 'application/json';
  return [
    ...(mode.id === 'none' ? [] : [`SECRET=${quoted(secret ?? PLACEHOLDER)}`]),
    `URL=${quoted(webhook.url ?? '')}`,
    ...(sample.is_form ? form(payload) : [`BODY=${unlike(JSON.stringify(payload))}`]),
    ...lines,
    [
      'curl',
      ...[`Content-Type: ${type}`, ...event, ...proof].map((one) => `-H "${one}"`),
      '--data-binary "$BODY" "$URL"',
    ].join(' \\\n  '),
  ].join('\n');
}

/**
 * Adds the current time to the JSON object, because the webhook would skip an identical body as a
 * repeat.
 */
const unlike = (json: string): string => quoted(json).replace('{', `{"sent":"'$(date +%s)'",`);

/** Returns a form with the current time, and the text that is signed together with the URL. */
function form(payload: Record<string, unknown>): string[] {
  const fields = { ...payload, sent: '$SENT' } as Record<string, string>;
  const sorted = Object.keys(fields).sort();
  return [
    'SENT=$(date +%s)',
    `BODY=${quoted(new URLSearchParams(payload as Record<string, string>).toString())}"&sent=$SENT"`,
    `FIELDS=${quoted(sorted.map((name) => name + (fields[name] ?? '')).join('')).replace('$SENT', `'"$SENT"'`)}`,
  ];
}
