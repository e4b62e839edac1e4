// Settings → Webhooks: editing, rotation, turning off and deletion; keyboard use and accessibility in both themes.
import { createServer } from 'node:http';
import { violations } from './fixtures/axe';
import { freePort } from './fixtures/gateway';
import { expect } from './fixtures/test';
import { make, PUSH, send, shownSecret, shownUrl, test, type Made } from './fixtures/webhook';

interface Call {
  method?: string;
  params?: { id?: string };
}

test('editing sends only the changed fields, and a click does not lose unsaved changes', async ({ home, page }) => {
  const { id } = await make(home, {
    name: 'Before',
    source_profile: 'github',
    events: ['push'],
    rate_limit_per_minute: 7,
  });
  const frames: string[] = [];
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => frames.push(String(payload))));
  await page.goto(`/webhooks/${id}?tab=settings`);
  const save = page.getByRole('button', { name: 'Save changes' });
  await expect(save).toBeDisabled();
  await page.getByLabel('Name', { exact: true }).fill('After');
  page.once('dialog', (dialog) => void dialog.dismiss());
  await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('After');
  await page.getByLabel('All events except…').check();
  await page.getByText('More options').click();
  await page.getByRole('checkbox', { name: 'calc' }).check();
  await page.getByLabel('One per subject').check();
  await page.getByLabel('Allowed IP addresses').fill('127.0.0.0/8\n::1');
  await save.click();
  await expect(page.getByRole('heading', { name: 'After' })).toBeVisible();
  // While it saves, it is only `aria-disabled`.
  await expect(save).toHaveJSProperty('disabled', true);
  const update = frames
    .map((frame) => JSON.parse(frame) as { method: string; params: object })
    .find(({ method }) => method === 'webhooks.update');
  expect(Object.keys(update?.params ?? {}).sort()).toEqual([
    'allowed_cidrs',
    'events',
    'id',
    'name',
    'session_mode',
    'toolPolicy',
  ]);
  const after = await home.rpc<Record<string, unknown>>('webhooks.get', { id });
  expect(after).toMatchObject({
    name: 'After',
    events: { allow: [], deny: ['push'] },
    toolPolicy: { allow: ['calc'], deny: [] },
    session_mode: 'per_entity',
    allowed_cidrs: ['127.0.0.0/8', '::1/128'],
    rate_limit_per_minute: 7,
  });
});

test('rotation: both secrets work for a while, and the new one is shown once', async ({ home, page }) => {
  const { id, url, secret } = await make(home, {
    name: 'Turn',
    source_profile: 'github',
    deliver_only: true,
  });
  await page.goto(`/webhooks/${id}`);
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  const dialog = page.getByRole('dialog', {
    name: 'Rotate the secret of Turn',
  });
  await dialog.getByLabel('Keep the old secret valid for').selectOption({ label: '1 hour' });
  await dialog.getByRole('button', { name: 'Rotate secret' }).click();
  await expect(page.getByRole('heading', { name: 'New secret' })).toBeVisible();
  await expect(page.getByText(/^Enter it at the sender\. The old secret also works until/)).toBeVisible();
  const fresh = (await shownSecret(page).textContent()) ?? '';
  expect(fresh).not.toBe(secret);
  expect(await send(url, secret, 'push', PUSH)).toBe(202);
  expect(await send(url, fresh, 'push', PUSH)).toBe(202);
  await expect(page.getByText(/Both secrets work until/)).toBeVisible();
  await page.getByLabel('I’ve saved it').check();
  await page.getByRole('button', { name: 'Hide the secret' }).click();
  expect(await page.content()).not.toContain(fresh);

  // Without overlap, the old secret stops working immediately.
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await dialog.getByLabel('Use my own').check();
  await dialog.getByRole('textbox', { name: 'Your secret' }).fill('a secret of my own making');
  await dialog.getByLabel('Keep the old secret valid for').selectOption({ label: 'Not at all (if it leaked)' });
  await dialog.getByRole('button', { name: 'Rotate secret' }).click();
  await expect(dialog).toHaveCount(0);
  expect(await send(url, fresh, 'push', PUSH)).toBe(401);
  expect(await send(url, 'a secret of my own making', 'push', PUSH)).toBe(202);

  // A weak secret is accepted, with a warning.
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await dialog.getByLabel('Use my own').check();
  await dialog.getByRole('textbox', { name: 'Your secret' }).fill('short');
  await dialog.getByRole('button', { name: 'Rotate secret' }).click();
  await expect(page.getByRole('heading', { name: 'New secret' })).toBeVisible();
  await expect(page.getByText('shorter than 16 bytes', { exact: false })).toBeVisible();
});

test('a webhook is turned off and on with undo, and deleted by typing its name', async ({ home, page }) => {
  const { id, url, secret } = await make(home, {
    name: 'Old one',
    source_profile: 'github',
    deliver_only: true,
  });
  await page.goto('/webhooks');
  const takes = page.getByRole('switch', { name: 'Old one: enabled' });
  await expect(takes).toBeChecked();
  await takes.click();
  await expect(
    page.getByRole('region', { name: 'Notifications' }).getByText('Old one is off. Senders get “not found”.'),
  ).toBeVisible();
  await expect.poll(async () => await send(url, secret, 'push', PUSH)).toBe(404);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText('Old one is on.')).toBeVisible();
  expect(await send(url, secret, 'push', PUSH)).toBe(202);

  await page.getByRole('button', { name: 'Actions for Old one' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete Old one' });
  await expect(dialog.getByText('Conversations are kept.')).toBeVisible();
  const sure = dialog.getByRole('button', { name: 'Delete this webhook' });
  await expect(sure).toBeDisabled();
  await dialog.getByLabel('Type Old one to confirm').fill('Old one');
  await sure.click();
  await expect(page.getByText('No webhooks yet')).toBeVisible();
  expect(await send(url, secret, 'push', PUSH)).toBe(404);
  await page.goto(`/webhooks/${id}`);
  await expect(page.getByRole('heading', { name: 'Webhook not found' })).toBeVisible();
});

test('a paused webhook accepts deliveries, which wait until it is resumed', async ({ home, page }) => {
  const { id, url, secret } = await make(home, { name: 'Busy', source_profile: 'github', deliver_only: true });
  const first = async () =>
    (await home.rpc<{ deliveries: { id: string; status: string; error?: string }[] }>('webhooks.deliveries', { id }))
      .deliveries[0];
  await page.goto(`/webhooks/${id}`);
  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await expect(page.getByText('This webhook is paused: it accepts deliveries')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Pause', exact: true })).toHaveCount(0);
  expect(await send(url, secret, 'push', PUSH)).toBe(202);
  const why = 'Waits until the webhook is resumed.';
  expect(await first()).toMatchObject({ status: 'queued', error: why });
  await page.goto(`/deliveries/${(await first())?.id}`);
  await expect(page.getByText(why).first()).toBeVisible();

  await page.goto('/overview');
  await expect(page.getByRole('link', { name: 'Busy is paused: its deliveries wait' })).toBeVisible();
  await page.goto('/webhooks');
  await expect(page.getByText('Paused', { exact: true })).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Actions for Busy' }).click();
  await page.getByRole('menuitem', { name: 'Resume' }).click();
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText('Busy resumed.')).toBeVisible();
  await expect(page.getByText('Paused', { exact: true })).toHaveCount(0);
  await expect.poll(async () => (await first())?.status).toBe('completed');

  await page.goto(`/webhooks/${id}`);
  await page.getByRole('button', { name: 'Pause', exact: true }).press('Enter');
  await expect(page.getByRole('button', { name: 'Resume' })).toBeFocused();
  expect(await violations(page)).toEqual([]);
  await page.getByRole('button', { name: 'Resume' }).press('Enter');
  await expect(page.getByRole('button', { name: 'Pause', exact: true })).toBeFocused();

  // A disabled webhook accepts nothing, so it is not shown as paused.
  await home.rpc('webhooks.update', { id, enabled: false, paused: true });
  await page.goto('/webhooks');
  await expect(page.getByRole('switch', { name: 'Busy: enabled' })).not.toBeChecked();
  await expect(page.getByText('Paused', { exact: true })).toHaveCount(0);
});

test('a long list of webhooks is searched, and only the rows on the screen request their deliveries', async ({ home, page }) => {
  const made: Made[] = [];
  for (let number = 1; number <= 40; number++)
    made.push(await make(home, { name: `Hook ${number}`, source_profile: 'github', deliver_only: true }));
  const asked: (string | undefined)[] = [];
  const note = (text: string | null) => {
    const calls = [JSON.parse(text ?? '[]') as Call | Call[]].flat();
    asked.push(...calls.filter(({ method }) => method === 'webhooks.stats').map(({ params }) => params?.id));
  };
  // The page uses HTTP until its socket is open.
  page.on('request', (request) => request.url().endsWith('/api/rpc') && note(request.postData()));
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => note(String(payload))));
  await page.goto('/webhooks');
  const [first, last] = [made[0], made[39]];
  if (!first || !last) throw new Error('no webhooks');
  await expect.poll(() => asked).toContain(first.id);
  expect(await send(first.url, first.secret, 'push', PUSH)).toBe(202);
  await expect(page.getByRole('list', { name: 'Latest deliveries' }).getByRole('link', { name: /Completed/ })).toHaveCount(1);
  expect(asked).not.toContain(last.id);
  await page.getByRole('link', { name: 'Hook 40', exact: true }).scrollIntoViewIfNeeded();
  await expect.poll(() => asked).toContain(last.id);

  const search = page.getByRole('searchbox', { name: 'Search webhooks' });
  await search.fill('github hook 39');
  await expect(page.getByRole('status').filter({ hasText: /^1 webhook$/ })).toBeVisible();
  await expect(page.getByRole('switch')).toHaveCount(1);
  await expect(page.getByRole('switch', { name: 'Hook 39: enabled' })).toBeVisible();
  expect(await violations(page)).toEqual([]);
  await search.fill('nothing');
  await expect(page.getByText('No webhook matches “nothing”.')).toBeVisible();
});

test('a webhook that was deleted since is not shown by Forward', async ({ home, page }) => {
  await make(home, { name: 'Alpha', source_profile: 'github', deliver_only: true });
  await page.goto('/webhooks');
  await page.getByRole('link', { name: 'Alpha', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Alpha', level: 1 })).toBeVisible();
  await page.goBack();
  await page.getByRole('button', { name: 'Actions for Alpha' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete Alpha' });
  await dialog.getByLabel('Type Alpha to confirm').fill('Alpha');
  await dialog.getByRole('button', { name: 'Delete this webhook' }).click();
  await expect(page.getByText('No webhooks yet')).toBeVisible();
  await page.goForward();
  await expect(page.getByRole('heading', { name: 'Webhook not found', level: 1 })).toBeVisible();
});

test('keyboard-only use', async ({ home, page }) => {
  await page.goto('/webhooks/new');
  await page.getByRole('heading', { name: 'Which service?' }).waitFor();
  const reach = async (label: string) => {
    for (let steps = 0; steps < 80; steps++) {
      const at = await page.evaluate(() => {
        const now = document.activeElement as HTMLInputElement | null;
        if (now === document.body || now?.matches('main')) return '';
        return `${now?.labels?.[0]?.textContent ?? ''} ${now?.textContent ?? ''}`;
      });
      if (at.includes(label)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`the Tab key does not reach ${label}`);
  };
  await reach('Anything else');
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
  await page.keyboard.type('By keys');
  await reach('An agent handles it');
  await page.keyboard.press('ArrowDown');
  await reach('More options');
  await page.keyboard.press('Enter');
  await reach('Allowed IP addresses');
  await page.keyboard.type('127.0.0.1');
  await reach('Create webhook');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'By keys' })).toBeFocused();
  await reach('I’ve saved it');
  await page.keyboard.press('Space');
  await reach('Send test');
  await page.keyboard.press('Enter');
  await expect(page.getByText('Completed', { exact: true })).toBeVisible();
  const { webhooks } = await home.rpc<{ webhooks: object[] }>('webhooks.list');
  expect(webhooks[0]).toMatchObject({
    name: 'By keys',
    deliver_only: true,
    allowed_cidrs: ['127.0.0.1/32'],
  });
});

test('accessibility in both themes and no horizontal scroll', async ({ home, page }) => {
  const { id } = await make(home, {
    name: 'A rather long name of a webhook'.repeat(3),
    source_profile: 'slack',
    auth_mode: 'static_header',
  });
  await home.rpc('webhooks.test', { id });
  const look = async () => {
    const themes = ['light', 'dark'] as const;
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page), colorScheme).toEqual([]);
    }
    await page.setViewportSize({ width: 320, height: 700 });
    for (const colorScheme of themes) {
      await page.emulateMedia({ colorScheme });
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(beyond, `${page.url()}, ${colorScheme}`).toBeLessThanOrEqual(0);
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  };
  await page.goto('/webhooks');
  await expect(page.getByText('1 in the last 24 h')).toBeVisible();
  await look();
  await page.goto('/webhooks/new');
  await expect(page.getByRole('button', { name: /^GitHub/ })).toBeVisible();
  await look();
  await page.getByRole('button', { name: /^GitHub/ }).click();
  await page.getByLabel('Only selected events').check();
  await page.getByText('More options').click();
  await look();
  await page.getByLabel('Forward it').check();
  await page.getByText('Insert a field').click();
  await page.getByText('Sample for the preview').click();
  await page.getByLabel('Name', { exact: true }).fill('');
  await page.getByRole('button', { name: 'Create webhook' }).click();
  await expect(page.getByText('Enter a name.')).toBeVisible();
  await look();
  await page.goto(`/webhooks/${id}`);
  await page.getByText('Test from a terminal').click();
  await page.getByText('How to set up Slack').click();
  await page.getByText('Set a public URL').click();
  await look();
  await page.getByRole('button', { name: 'Rotate secret' }).click();
  await look();
});

test('the public URL can be set on the webhook page', async ({ home, page }) => {
  const { id } = await make(home, { name: 'Reach', source_profile: 'github' });
  await page.goto(`/webhooks/${id}`);
  await page.getByText('Set a public URL').click();
  await page.getByLabel('Public URL of this gateway').fill('https://gatehouse.example.com');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(shownUrl(page)).toHaveText(/^https:\/\/gatehouse\.example\.com\/api\/webhooks\/ingest\/wh_/);
  await expect(page.getByText('This URL works only on this computer and network')).toHaveCount(0);
});

test('the public URL is tested from the webhook page, and a failure says what to do', async ({ home, page }) => {
  const { id } = await make(home, { name: 'Reach', source_profile: 'github' });
  await page.goto(`/webhooks/${id}`);
  const run = page.getByRole('button', { name: 'Test the public URL' });
  await run.click();
  await expect(page.getByText(/^This gateway answers at .+, but that address exists only on this computer/)).toBeVisible();
  await expect(page.getByText(/^cloudflared tunnel/).last()).toBeVisible();
  expect(await violations(page)).toEqual([]);
  const port = await freePort();
  await home.rpc('config.set', { key: 'server.external_url', value: `http://localhost:${port}` });
  await run.click();
  await expect(page.getByText(`Nothing accepts connections at http://localhost:${port}.`)).toBeVisible();
  const other = createServer((_, response) => response.end('{"status":"ok"}'));
  await new Promise<void>((resolve) => other.listen(port, 'localhost', resolve));
  try {
    await run.click();
    await expect(page.getByText(`Another server answers at http://localhost:${port}.`)).toBeVisible();
    await expect(page.getByText(/^tailscale funnel/).last()).toBeVisible();
  } finally {
    other.closeAllConnections();
    other.close();
  }
});

test('a webhook’s page in tabs: its deliveries and their latency, and settings that keep unsaved input', async ({ home, page }) => {
  const { id, url, secret } = await make(home, { name: 'Tabs', source_profile: 'github', deliver_only: true });
  expect(await send(url, secret, 'push', PUSH)).toBe(202);
  await page.goto(`/webhooks/${id}`);
  const tab = (name: string) => page.getByRole('tab', { name, exact: true });
  await expect(tab('Setup')).toHaveAttribute('aria-selected', 'true');
  await tab('Settings').click();
  await page.getByLabel('Name', { exact: true }).fill('Half typed');
  await tab('Deliveries').click();
  const latest = page.getByRole('list', { name: 'Latest deliveries' });
  await expect(latest.getByRole('listitem')).toHaveCount(1);
  await expect(latest).toContainText('Completed');
  await expect(page.getByText(/^Average .+, 95% within/)).toBeVisible();
  expect(await violations(page)).toEqual([]);
  const asTable = page.getByRole('button', { name: 'Show as a table' });
  await asTable.press('Enter');
  const table = page.getByRole('dialog', { name: 'Deliveries over time' });
  await expect(table.getByRole('row')).toHaveCount(2);
  await page.keyboard.press('Escape');
  await expect(table).toHaveCount(0);
  await expect(asTable).toBeFocused();
  await tab('Deliveries').press('ArrowRight');
  await expect(tab('Settings')).toBeFocused();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('Half typed');
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await tab('Deliveries').click();
  await latest.getByRole('link').click();
  await expect(page).toHaveURL(/\/deliveries\/del_/);
});

test('a URL that the internet cannot reach comes with commands that make it reachable', async ({ home, page }) => {
  const { id } = await make(home, { name: 'Reach', source_profile: 'github' });
  await page.goto(`/webhooks/${id}`);
  await page.getByText('Set a public URL').click();
  const ways = page.getByRole('list', { name: 'Commands that make the gateway reachable' });
  await expect(ways).toContainText(`cloudflared tunnel --url http://localhost:${home.port}`);
  await expect(ways).toContainText(`tailscale funnel ${home.port}`);
  await expect(ways.getByRole('button', { name: 'Copy the command for Caddy' })).toBeVisible();
});
