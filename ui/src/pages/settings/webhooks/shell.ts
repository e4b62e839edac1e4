// Shell commands that sign and send a test delivery, one recipe per authentication mode. They need curl, and
// openssl for signatures. The gateway's scheme table documents how each sender signs, with sources.
import type { AuthMode, Webhook } from '../../../client/generated/rpc';

/** Quotes text as a single shell word. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Placeholder for a secret that is not available. */
export const PLACEHOLDER = 'put-the-secret-here';

interface Sent {
  body: string;
  headers: string[];
}

/** A small delivery in each sender's format. */
const SENT: Readonly<Record<string, Sent>> = {
  generic: { body: '{"message": "Hello from the shell"}', headers: ['X-Event-Type: test'] },
  codehost_a: {
    body: '{"ref": "refs/heads/main", "repository": {"full_name": "acme/shop"}, "pusher": {"name": "ada"}}',
    headers: ['X-GitHub-Event: push'],
  },
  codehost_b: {
    body: '{"object_kind": "push", "ref": "refs/heads/main", "project": {"path_with_namespace": "acme/shop"}}',
    headers: ['X-Gitlab-Event: Push Hook'],
  },
  payments: { body: '{"type": "invoice.paid", "data": {"object": {"object": "invoice"}}}', headers: [] },
  tracker_a: {
    body: '{"action": "create", "type": "Issue", "data": {"title": "A test"}}',
    headers: ['Linear-Event: Issue'],
  },
  incident: { body: '{"event": {"event_type": "incident.triggered", "data": {"title": "A test"}}}', headers: [] },
  errors: {
    body: '{"action": "created", "data": {"issue": {"title": "A test"}}}',
    headers: ['Sentry-Hook-Resource: issue'],
  },
  slack: {
    body: '{"type": "event_callback", "event": {"type": "app_mention", "text": "Hello"}}',
    headers: [],
  },
  shopify: { body: '{"name": "#1001", "total_price": "49.00"}', headers: ['X-Shopify-Topic: orders/create'] },
};

const HEX = `openssl dgst -sha256 -hmac "$SECRET" | sed 's/^.* //'`;
const BASE64 = `openssl dgst -sha256 -hmac "$SECRET" -binary | openssl base64 -A`;
/** The key of Standard Webhooks is the base64-decoded secret without its `whsec_` prefix. */
const WHSEC = [
  `KEY=$(printf '%s' "\${SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \\n')`,
  `SIGNATURE=$(printf '%s' "$ID.$TIME.$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$KEY" -binary | openssl base64 -A)`,
];

interface Recipe {
  /** Lines before the request. */
  lines: string[];
  headers: string[];
}

const time = 'TIME=$(date +%s)';
const body = (how: string) => `SIGNATURE=$(printf '%s' "$BODY" | ${how})`;

function recipe(mode: AuthMode, header: string): Recipe {
  switch (mode) {
    case 'none':
      return { lines: [], headers: [] };
    case 'static_header':
      return { lines: [], headers: [`${header}: $SECRET`] };
    case 'bearer':
      return { lines: [], headers: ['Authorization: Bearer $SECRET'] };
    case 'codehost_b_token':
      return { lines: [], headers: ['X-Gitlab-Token: $SECRET'] };
    case 'codehost_a_hmac_sha256':
      return { lines: [body(HEX)], headers: ['X-Hub-Signature-256: sha256=$SIGNATURE'] };
    case 'payments_webhook_signature':
      return {
        lines: [time, `SIGNATURE=$(printf '%s' "$TIME.$BODY" | ${HEX})`],
        headers: ['Stripe-Signature: t=$TIME,v1=$SIGNATURE'],
      };
    case 'tracker_a_webhook_signature':
      return { lines: [body(HEX)], headers: ['Linear-Signature: $SIGNATURE'] };
    case 'incident_v2_signature':
      return { lines: [body(HEX)], headers: ['X-PagerDuty-Signature: v1=$SIGNATURE'] };
    case 'errors_webhook_signature':
      return { lines: [body(HEX)], headers: ['Sentry-Hook-Signature: $SIGNATURE'] };
    case 'standard_webhooks':
      return {
        lines: ['ID=msg_$(openssl rand -hex 8)', time, ...WHSEC],
        headers: ['webhook-id: $ID', 'webhook-timestamp: $TIME', 'webhook-signature: v1,$SIGNATURE'],
      };
    case 'slack_signature':
      return {
        lines: [time, `SIGNATURE=$(printf '%s' "v0:$TIME:$BODY" | ${HEX})`],
        headers: ['X-Slack-Request-Timestamp: $TIME', 'X-Slack-Signature: v0=$SIGNATURE'],
      };
    case 'shopify_hmac_sha256':
      return { lines: [body(BASE64)], headers: ['X-Shopify-Hmac-SHA256: $SIGNATURE'] };
    case 'twilio_signature':
      return { lines: [], headers: ['X-Twilio-Signature: $SIGNATURE'] };
  }
}

/** The shell commands. `secret` is null if it is not available. */
export function shellLines(webhook: Webhook, secret: string | null): string {
  const mode = webhook.auth_mode;
  const first = mode === 'none' ? [] : [`SECRET=${quoted(secret ?? PLACEHOLDER)}`];
  if (webhook.source_profile === 'twilio')
    return twilio(webhook, first, recipe(mode, webhook.auth.header ?? '').headers);
  const sent = SENT[webhook.source_profile] ?? { body: '{"message": "Hello from the shell"}', headers: [] };
  const { lines, headers } = recipe(mode, webhook.auth.header ?? 'X-Webhook-Secret');
  const own = webhook.event_header ? [`${webhook.event_header}: test`] : sent.headers;
  const all = ['Content-Type: application/json', ...own, ...headers];
  return [
    ...first,
    `BODY=${unlike(sent.body)}`,
    ...lines,
    ['curl', ...all.map((one) => `-H "${one}"`), `--data-binary "$BODY" ${quoted(webhook.url)}`].join(' \\\n  '),
  ].join('\n');
}

/** Adds the current time to the object, so that the webhook does not skip it as a repeat. */
const unlike = (json: string): string => quoted(json).replace('{', `{"sent": "'$(date +%s)'", `);

/** Quotes text as a single shell word that expands `$SID`. */
const withSid = (text: string): string => quoted(text).replace('$SID', `'"$SID"'`);

/** A form request. Its signature covers the URL followed by the fields sorted by name. */
function twilio(webhook: Webhook, first: string[], headers: string[]): string {
  const fields = [
    ['Body', 'Hello from the shell'],
    ['From', '+15005550006'],
    ['SmsSid', '$SID'],
    ['SmsStatus', 'received'],
    ['To', '+15005550001'],
  ] as const;
  const signed = webhook.url + fields.map(([name, value]) => name + value).join('');
  return [
    ...first,
    'SID=SM$(date +%s)',
    `SIGNATURE=$(printf '%s' ${withSid(signed)} | openssl dgst -sha1 -hmac "$SECRET" -binary | openssl base64 -A)`,
    [
      'curl',
      ...headers.map((one) => `-H "${one}"`),
      ...fields.map(([name, value]) => `--data-urlencode ${withSid(`${name}=${value}`)}`),
      quoted(webhook.url),
    ].join(' \\\n  '),
  ].join('\n');
}
