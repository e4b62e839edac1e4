// Setup steps for a sender from the gateway's guide or, without a matching profile, by authentication mode.
import type { ProfileInfo, Webhook } from '../../client/generated/rpc';
import { m } from '../../paraglide/messages.js';

export interface Steps {
  /** `{url}` and `{secret}` are placeholders for the webhook's values. */
  steps: string[];
  notes: string[];
}

/**
 * Parses the gateway's guide. Numbered lines are steps and other lines are notes. Drops the curl line (see `TryIt`).
 */
export function parse(guide: string): Steps {
  const lines = guide.split('\n').filter((line) => line.trim() !== '');
  const step = /^\d+\.\s+/;
  return {
    steps: lines.filter((line) => step.test(line)).map((line) => line.replace(step, '')),
    notes: lines.filter((line) => !step.test(line) && !line.includes('curl ')),
  };
}

export function steps(webhook: Webhook, profile: ProfileInfo): Steps {
  const isOwnWay = webhook.auth_mode === profile.default_auth_mode;
  if (profile.id !== 'generic' && isOwnWay) return parse(profile.guide);
  const header = webhook.auth.header ?? 'X-Webhook-Secret';
  const [url, secret] = ['{url}', '{secret}'];
  const proof = {
    none: [m.webhooks_guide_none()],
    static_header: [m.webhooks_guide_static_header({ header, secret })],
    bearer: [m.webhooks_guide_bearer({ secret })],
    standard_webhooks: [m.webhooks_guide_standard({ secret }), m.webhooks_guide_standard_headers()],
  } as Readonly<Record<string, string[]>>;
  const event = m.webhooks_guide_event({ header: webhook.event_header ?? 'X-Event-Type' });
  const id = webhook.auth_mode === 'standard_webhooks' ? [] : [m.webhooks_guide_delivery_id()];
  return {
    steps: [
      m.webhooks_guide_post({ url }),
      ...(proof[webhook.auth_mode] ?? [m.webhooks_guide_other_mode({ secret })]),
      ...(profile.id === 'generic' ? [event, ...id] : []),
    ],
    notes: [],
  };
}
