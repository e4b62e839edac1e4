// Reads deliveries that we signed (JSON on standard input, as sign.mjs writes them) and says of each
// what the vendor's own library makes of it: { library, accepted, accepted_when_changed }.
import { verify as verifyGithub } from '@octokit/webhooks-methods';
import '@shopify/shopify-api/adapters/node';
import { ApiVersion, shopifyApi } from '@shopify/shopify-api';
import { LinearWebhookClient } from '@linear/sdk/webhooks';
import { Paddle } from '@paddle/paddle-node-sdk';
import bolt from '@slack/bolt';
import { verifyKey } from 'discord-interactions';
import { Webhook as Standard } from 'standardwebhooks';
import Stripe from 'stripe';
import { Webhook as Svix } from 'svix';
import twilio from 'twilio';
import { twitch, whatsapp, zoom } from './receivers.mjs';

const stripe = new Stripe('sk_test_unused');

// The vendors' names for headers that we send under neutral ones.
const renamed = (headers, names) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [names[name] ?? name, value]));

const verifiers = {
  codehost_a_hmac_sha256: {
    '@octokit/webhooks-methods': ({ secret, headers, body }) =>
      verifyGithub(secret, body, headers['x-hub-signature-256']),
  },
  payments_webhook_signature: {
    stripe: ({ secret, headers, body }) =>
      stripe.webhooks.constructEvent(body, headers['payments-signature'], secret) !== undefined,
  },
  tracker_a_webhook_signature: {
    '@linear/sdk': ({ secret, headers, body }) =>
      new LinearWebhookClient(secret).verify(
        Buffer.from(body), headers['tracker-a-signature'], JSON.parse(body).webhookTimestamp),
  },
  standard_webhooks: {
    standardwebhooks: ({ secret, headers, body }) =>
      new Standard(secret).verify(body, headers) !== undefined,
    svix: ({ secret, headers, body }) =>
      new Svix(secret).verify(body, renamed(headers, {
        'webhook-id': 'svix-id', 'webhook-timestamp': 'svix-timestamp', 'webhook-signature': 'svix-signature',
      })) !== undefined,
  },
  slack_signature: {
    '@slack/bolt': ({ secret, headers, body }) =>
      bolt.isValidSlackRequest({
        signingSecret: secret, body,
        headers: { ...headers, 'x-slack-request-timestamp': Number(headers['x-slack-request-timestamp']) },
      }),
  },
  shopify_hmac_sha256: {
    '@shopify/shopify-api': async ({ secret, headers, body }) => {
      const shopify = shopifyApi({
        apiKey: 'unused', apiSecretKey: secret, hostName: 'unused.example', apiVersion: ApiVersion.January26,
        isEmbeddedApp: false, logger: { log: () => {} },
      });
      const rawRequest = {
        method: 'POST', url: '/', headers: {
          ...headers, 'x-shopify-topic': 'orders/create', 'x-shopify-shop-domain': 'shop.myshopify.com',
          'x-shopify-api-version': '2025-01', 'x-shopify-webhook-id': '1',
        },
      };
      return (await shopify.webhooks.validate({ rawBody: body, rawRequest, rawResponse: {} })).valid;
    },
  },
  twilio_signature: {
    twilio: ({ secret, headers, body, url }) =>
      twilio.validateRequest(secret, headers['x-twilio-signature'], url, Object.fromEntries(new URLSearchParams(body))),
  },
  discord_interactions_signature: {
    'discord-interactions': ({ secret, headers, body }) =>
      verifyKey(body, headers['x-signature-ed25519'], headers['x-signature-timestamp'], secret),
  },
  meta_signature: {
    'whatsapp-api-js': ({ secret, headers, body }) =>
      whatsapp(secret).verifyRequestSignature(body, headers['x-hub-signature-256']),
  },
  paddle_signature: {
    '@paddle/paddle-node-sdk': ({ secret, headers, body }) =>
      new Paddle('unused').webhooks.isSignatureValid(body, secret, headers['paddle-signature']),
  },
  twitch_signature: {
    '@twurple/eventsub-http': async delivery => {
      const headers = { ...delivery.headers, 'twitch-eventsub-message-type': 'notification' };
      return (await twitch({ ...delivery, headers })).status === 202;
    },
  },
  zoom_signature: {
    '@zoom/rivet': async delivery => (await zoom(delivery)).status === 200,
  },
};

// A library says no by an answer or by throwing.
const accepts = async (verifier, delivery) => {
  try {
    return Boolean(await verifier(delivery));
  } catch (error) {
    if (process.env.DEBUG) console.error(error);
    return false;
  }
};

let input = '';
for await (const chunk of process.stdin) input += chunk;
const answers = [];
for (const delivery of JSON.parse(input)) {
  for (const [library, verifier] of Object.entries(verifiers[delivery.mode] ?? {})) {
    answers.push({
      mode: delivery.mode,
      library,
      accepted: await accepts(verifier, delivery),
      accepted_when_changed: await accepts(verifier, { ...delivery, body: delivery.body.replace('a', 'b') }),
    });
  }
}
// A library may keep a timer.
process.stdout.write(JSON.stringify(answers), () => process.exit());
