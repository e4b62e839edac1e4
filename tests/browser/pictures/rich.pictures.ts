// Pictures of a gateway with much data: long names, many rows, failures, and messages of several lines.
import { ModelServer } from '../fixtures/model';
import { deliver, makeWebhook, pullRequest } from '../fixtures/sender';
import { expect, test, type Gateway } from '../fixtures/test';
import { isWanted, take, settled, visit } from './take';

const LONG = 'Reviews of the payment service for customers outside of the European Union';

let model: ModelServer;

test.use({
  environment: async ({}, use) => {
    model = await ModelServer.start();
    await use({ ...model.environment, SERVICE_TOOLS__REQUIRE_APPROVAL: '["web_fetch"]' });
    await model.close();
  },
});

async function fill(home: Gateway) {
  for (let at = 1; at <= 12; at++) {
    await home.rpc('agents.create', {
      name: at === 1 ? LONG : `Agent ${at}`,
      system_prompt: 'Be short.',
      tools: { allow: ['calc', 'web_fetch', 'web_search', 'channel_send', 'webhook_get_full_payload'] },
    });
    await home.rpc('env.set', { key: at === 1 ? 'PAYMENT_SERVICE_PRODUCTION_SIGNING_SECRET_OF_THE_OLD_ACCOUNT' : `TOKEN_${at}`, value: 'x' });
    await home.call('POST', '/api/auth/api-keys', { label: at === 1 ? LONG : `script ${at}`, scopes: ['operator.read', 'operator.write'] });
  }
  await home.rpc('channels.create', { type: 'ntfy', label: LONG, fields: { url: 'https://ntfy.example.org', topic: 'house' } });
  const inbox = await makeWebhook(home, {
    name: LONG,
    source_profile: 'codehost_a',
    deliver_only: true,
    deliver_to: 'inbox',
    prompt_template: '{pull_request.title}\n\nIn {repository.full_name}, by {sender.login}.\nPlease review it before the release of Thursday.',
  });
  const agent = await makeWebhook(home, { name: 'House', source_profile: 'codehost_a' });
  for (const name of ['Shop', 'Alerts', 'Backups', 'Invoices', 'Doorbell']) {
    await makeWebhook(home, { name, source_profile: 'generic', deliver_only: true, deliver_to: 'log', prompt_template: '{title}' });
  }
  let last = '';
  for (let at = 1; at <= 60; at++) {
    const request = pullRequest(at);
    request.pull_request.title = at % 7 === 0 ? `Say which of the files of the nightly backup is missing, and why it cannot be read (${at})` : `Mend the gate (${at})`;
    const { body } = await deliver(home, inbox, request, { event: 'pull_request', ...(at % 11 === 0 && { secret: 'wrong' }) });
    last = body.delivery_id ?? last;
  }
  const failed = async () => (await home.rpc<{ deliveries: { id: string }[] }>('webhooks.deliveries', { status: 'failed' })).deliveries;
  for (let at = 1; at <= 4; at++) {
    model.next({ finish: 'content_filter' });
    await deliver(home, agent, pullRequest(100 + at), { event: 'pull_request' });
    await expect.poll(async () => (await failed()).length).toBe(at);
  }
  for (let at = 0; at < 25; at++) {
    model.next({ text: [`Answer ${at}`] });
    const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: `Question ${at}` });
    await home.rpc('sessions.rename', { id: session, label: at % 5 === 0 ? `How long did the backup of the photo library take in week ${at}?` : `Question ${at}` });
  }
  model.next({ tool: { name: 'web_fetch', arguments: { url: 'https://status.example.org/backup' } } });
  await home.rpc('chat.send', { text: 'Fetch it' });
  return { last, failed: (await failed())[0]?.id ?? '', webhook: inbox.id };
}

for (const locale of ['en-US', 'de-DE']) {
  test.describe(locale, () => {
    test.use({ locale });

    test(`much data, ${locale}`, async ({ home, page }) => {
      const filled = await fill(home);
      const places = {
        overview: '/overview',
        chat: '/chat',
        deliveries: '/deliveries',
        delivery: `/deliveries/${filled.last}`,
        'delivery-failed': `/deliveries/${filled.failed}`,
        inbox: '/inbox',
        webhooks: '/webhooks',
        webhook: `/webhooks/${filled.webhook}`,
        'webhook-settings': `/webhooks/${filled.webhook}?tab=settings`,
        agents: '/agents',
        channels: '/channels',
        stored: '/vault/stored',
        environment: '/vault/environment',
        keys: '/settings/security/access',
        usage: '/settings/usage',
      };
      for (const [name, path] of Object.entries(places)) await visit(page, `rich-${locale}-${name}`, path);
      if (!isWanted('select')) return;
      await page.goto('/deliveries');
      await settled(page);
      await page.getByRole('button', { name: locale === 'en-US' ? 'Select' : 'Auswählen', exact: true }).click();
      await page.getByRole('checkbox').nth(2).check();
      await take(page, `rich-${locale}-select`);
    });
  });
}
