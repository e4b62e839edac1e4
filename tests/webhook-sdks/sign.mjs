// Deliveries signed by the vendors' own libraries, as JSON on standard output. Argument: the time in
// Unix seconds. Those that publish no signer are in check.mjs only.
import { sign as signGithub } from '@octokit/webhooks-methods';
import Stripe from 'stripe';
import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import twilio from 'twilio';

const seconds = Number(process.argv[2]);
const date = new Date(seconds * 1000);
const stripe = new Stripe('sk_test_unused');
const bodies = [
  '{"id":"evt_1","type":"invoice.paid"}',
  ' {\r\n\t"title": "Überlauf – 日本語 😀",\n "n": 1.0 }\n',
  '{}',
];
const secrets = ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', `whsec_${Buffer.alloc(64, 'é').toString('base64')}`];
const samples = [];

for (const body of bodies) {
  for (const secret of secrets) {
    samples.push({
      mode: 'codehost_a_hmac_sha256', library: '@octokit/webhooks-methods', secret, body,
      headers: { 'x-hub-signature-256': await signGithub(secret, body) },
    });
    samples.push({
      mode: 'payments_webhook_signature', library: 'stripe', secret, body,
      headers: {
        'stripe-signature': stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp: seconds }),
      },
    });
    samples.push({
      mode: 'standard_webhooks', library: 'standardwebhooks', secret, body,
      headers: {
        'webhook-id': 'msg_1', 'webhook-timestamp': String(seconds),
        'webhook-signature': new Standard(secret).sign('msg_1', date, body),
      },
    });
    samples.push({
      mode: 'standard_webhooks', library: 'svix', secret, body,
      headers: {
        'svix-id': 'msg_2', 'svix-timestamp': String(seconds),
        'svix-signature': new Svix(secret).sign('msg_2', date, body),
      },
    });
  }
}

const url = 'https://hooks.example/api/webhooks/ingest/wh_1?a=b%20c';
const forms = [
  { From: '+14158675309', To: '+18005551212', Body: 'a b&c=d é 😀 100%', Empty: '' },
  { Zebra: '1', alpha: '2', Alpha: '3', MediaUrl: ['https://b.example/2', 'https://a.example/1', 'https://a.example/1'] },
];
for (const fields of forms) {
  const form = new URLSearchParams();
  for (const [name, values] of Object.entries(fields)) {
    for (const value of [values].flat()) form.append(name, value);
  }
  for (const signed of [url, url.replace('hooks.example', 'hooks.example:443')]) {
    samples.push({
      mode: 'twilio_signature', library: 'twilio', secret: 'token', url, body: form.toString(),
      headers: { 'x-twilio-signature': twilio.getExpectedTwilioSignature('token', signed, fields) },
    });
  }
}
for (const body of bodies) {
  const hashed = `${url}&bodySHA256=${twilio.getExpectedBodyHash(body)}`;
  samples.push({
    mode: 'twilio_signature', library: 'twilio', secret: 'token', url: hashed, body,
    headers: { 'x-twilio-signature': twilio.getExpectedTwilioSignature('token', hashed, {}) },
  });
}

console.log(JSON.stringify(samples));
