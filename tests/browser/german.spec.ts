// The page in German: chosen by the browser or in the settings, with dates and numbers of the person's region, and on every page
// complete, accessible, and without text that is cut off or sticks out.
import type { Page } from '@playwright/test';
import { arrive } from './fixtures/arrive';
import { violations } from './fixtures/axe';
import { ModelServer } from './fixtures/model';
import { overflows } from './fixtures/overflow';
import { details, places } from './fixtures/places';
import { expect, test } from './fixtures/test';
import { make, PUSH, send } from './fixtures/webhook';
import { seed } from './pictures/seed';

const WIDTHS = [320, 390, 720, 1440];
/** The theme that axe checks at these widths. At the others, it would see the same layouts again. */
const THEMES: Partial<Record<number, 'light' | 'dark'>> = { 390: 'dark', 1440: 'light' };
const shots = process.env.GATEHOUSE_TEST_SHOTS;

/** The findings at each width, and of axe in both themes. */
async function check(page: Page, name: string): Promise<void> {
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
    expect.soft(await overflows(page), `${name} at ${width} px`).toEqual([]);
    if (shots) await page.screenshot({ path: `${shots}/${name}-${width}.png`, fullPage: true });
    const colorScheme = THEMES[width];
    if (!colorScheme) continue;
    await page.emulateMedia({ colorScheme });
    expect.soft(await violations(page), `${name} at ${width} px, ${colorScheme}`).toEqual([]);
  }
}

test.describe('a browser set to Austrian German', () => {
  test.use({ locale: 'de-AT' });

  test('shows the setup in German, without overflow', async ({ gateway, page }) => {
    await page.goto(`${gateway.origin}/`);
    await expect(page.getByRole('heading', { level: 1, name: 'Willkommen bei Gatehouse' })).toBeVisible();
    await expect(page.locator('html')).toHaveAttribute('lang', 'de');
    await check(page, 'onboarding');
  });

  test('shows the login in German, without overflow', async ({ home, page, context }) => {
    await context.clearCookies();
    await page.goto(home.origin);
    await expect(page.getByRole('heading', { level: 1, name: 'Bei Gatehouse anmelden' })).toBeVisible();
    await check(page, 'login');
  });

  test('writes dates and numbers as in Austria', async ({ home, page }) => {
    await home.rpc('channels.test', { id: 'inbox', text: 'Now' });
    await page.goto('/inbox');
    await expect(page.getByRole('heading', { level: 1, name: 'Posteingang' })).toBeVisible();
    await expect(page.getByRole('listitem').getByRole('time')).toHaveAttribute('title', /^\d{1,2}\.\d{1,2}\.\d{4}, \d{2}:\d{2}:\d{2}$/);
  });

  test('breaks no word in the counts of the overview', async ({ home: _, page }) => {
    await page.goto('/overview');
    const labels = page.getByRole('region', { name: 'Letzte 24 Stunden' }).getByRole('link').locator('.label');
    await expect(labels).toHaveText(['Empfangen', 'Abgeschlossen', 'In Bearbeitung', 'Abgewiesen', 'Fehlgeschlagen']);
    for (const width of [320, 390, 719, 720, 799, 832, 833, 880, 951, 952, 960, 1024, 1032]) {
      await page.setViewportSize({ width, height: 900 });
      const broken = await labels.evaluateAll((all) => {
        const isBroken = (text: Node, start: number, word: string) => {
          const range = document.createRange();
          range.setStart(text, start);
          range.setEnd(text, start + word.length);
          return new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size > 1;
        };
        return all.flatMap((one) => {
          const text = one.firstChild;
          if (!text) return [];
          return [...(text.textContent ?? '').matchAll(/\S+/g)].filter(({ index, 0: word }) => isBroken(text, index, word)).map(([word]) => word);
        });
      });
      expect(broken, `${width} px`).toEqual([]);
    }
  });

  test('keeps the language that the person chooses, until it is the browser’s again', async ({ home, page }) => {
    void home;
    await page.goto('/settings/system');
    await page.getByLabel('Sprache', { exact: true }).selectOption({ label: 'English' });
    await expect(page.getByRole('heading', { level: 2, name: 'Appearance' })).toBeVisible();
    await expect(page.locator('html')).toHaveAttribute('lang', 'en');
    await page.reload();
    await page.getByLabel('Language', { exact: true }).selectOption({ label: 'Browser default' });
    await expect(page.getByRole('heading', { level: 2, name: 'Darstellung' })).toBeVisible();
    expect(await page.evaluate(() => localStorage.getItem('gatehouse.language'))).toBeNull();
  });
});

test.describe('every page in German', () => {
  test.use({ locale: 'de-DE' });
  let model: ModelServer;
  test.use({ environment: async ({}, use) => {
    model = await ModelServer.start();
    await use(model.environment);
    await model.close();
  } });

  for (const [kind, list] of Object.entries({ pages: places, 'forms, tabs and single objects': details })) {
    test(`has no text that is cut off or sticks out, and no axe violation: ${kind}`, async ({ home, page }) => {
      test.setTimeout(400_000);
      const seeded = await seed(home, model);
      await page.emulateMedia({ reducedMotion: 'reduce' });
      for (const [name, path] of Object.entries(list(seeded))) {
        await test.step(name, async () => {
          await page.setViewportSize({ width: 1440, height: 900 });
          await arrive(page, path, 'Wird geladen…');
          await check(page, name);
        });
      }
    });
  }

  test('has neither while the vault is sealed and while the connection is lost', async ({ home, page, complaints }) => {
    test.setTimeout(120_000);
    complaints.allowDowntime();
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await home.call('POST', '/api/auth/vault/seal');
    for (const [name, path] of Object.entries({
      'sealed-overview': '/overview',
      'sealed-vault': '/vault',
      'sealed-environment': '/vault/environment',
      'sealed-system': '/settings/system',
    })) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await arrive(page, path, 'Wird geladen…');
      await check(page, name);
    }
    const checks = page.getByRole('list', { name: 'Systemprüfung' });
    await expect(checks).toContainText('Der Tresor ist versiegelt; gespeicherte Secrets können nicht gelesen werden.');
    await expect(checks).toContainText('Die Uhrzeit ist plausibel.');
    await page.goto('/webhooks');
    await expect(page.getByText('Live', { exact: true })).toBeVisible();
    await home.stop();
    await expect(page.getByRole('button', { name: 'Jetzt versuchen' })).toBeVisible();
    await check(page, 'connection-lost');
    await home.run();
  });

  test('has neither in a selection, a question and the palette', async ({ home, page }) => {
    test.setTimeout(120_000);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    for (const text of ['Der nächtliche Build ist fehlgeschlagen', 'Gelesen']) await home.rpc('channels.test', { id: 'inbox', text });
    const { messages } = await home.rpc<{ messages: { id: string }[] }>('inbox.list');
    await home.rpc('inbox.mark_read', { id: messages[0]?.id });
    await page.goto('/inbox');
    await page.getByRole('button', { name: 'Auswählen', exact: true }).click();
    await page.getByRole('list', { name: 'Nachrichten' }).getByRole('checkbox').last().check();
    await expect(page.getByText('1 ausgewählt')).toBeVisible();
    await check(page, 'inbox-selection');
    await page.getByRole('button', { name: 'Alle gelesenen löschen' }).click();
    const question = page.getByRole('dialog', { name: 'Alle gelesenen löschen' });
    await expect(question).toContainText('1 gelesene Nachricht wird endgültig gelöscht');
    await check(page, 'inbox-question');
    await question.getByRole('button', { name: 'Löschen', exact: true }).click();
    await expect(page.getByRole('paragraph').filter({ hasText: '1 Nachricht gelöscht' })).toBeVisible();
    // The unread message stays selected.
    await expect(page.getByText('1 ausgewählt')).toBeVisible();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('nächtlich');
    await expect(page.getByRole('option', { name: /Nachricht im Posteingang$/ })).toBeVisible();
    await check(page, 'palette');
  });

  test('has neither in the steps of the setup, a dialog and refused forms', async ({ home: _, page }) => {
    test.setTimeout(200_000);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    for (const step of ['passkey', 'model', 'channel', 'webhook', 'done']) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await page.goto(`/onboarding?step=${step}`);
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible();
      await check(page, `onboarding-${step}`);
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/agents?new');
    await page.getByRole('button', { name: 'Agenten hinzufügen' }).click();
    await expect(page.locator('[aria-invalid=true]').first()).toBeVisible();
    await check(page, 'agent-refused');
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto('/vault/environment');
    await page.getByRole('button', { name: 'Variable hinzufügen' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Variable hinzufügen' }).click();
    await expect(dialog.locator('[aria-invalid=true]')).toBeVisible();
    await check(page, 'variable-refused');
  });

  test('says what came in, and how to set up a sender, in German', async ({ home, page }) => {
    const { id, url, secret } = await make(home, { name: 'Shop', source_profile: 'github', deliver_to: 'inbox', deliver_only: true });
    expect(await send(url, secret, 'push', PUSH)).toBe(202);
    await page.goto('/deliveries');
    const row = page.getByRole('link', { name: /ada hat 0 Commits auf main gepusht\./ });
    await expect(row).toBeVisible();
    await row.click();
    await expect(page.getByRole('heading', { name: 'ada hat 0 Commits auf main gepusht.' })).toBeVisible();
    await page.goto(`/webhooks/${id}?tab=setup`);
    await page.getByText('GitHub einrichten').first().click();
    await expect(page.getByText(/^Öffnen Sie auf GitHub das Repository/)).toBeVisible();
    await page.goto('/settings/system/settings');
    await page.getByRole('searchbox').fill('server.bind');
    await expect(page.getByText('Adresse und Port, auf denen das Gateway Verbindungen annimmt.')).toBeVisible();
  });

  test('shows a shared conversation, and a link that no longer works, in German and on a phone', async ({ home, browser }) => {
    model.next({ text: ['**Es** ist warm.'] });
    const { session } = await home.rpc<{ session: string }>('chat.send_sync', { text: 'Wie warm ist es?' });
    const { share_id } = await home.rpc<{ share_id: string }>('sessions.share', { id: session });
    const context = await browser.newContext({ locale: 'de-AT' });
    const page = await context.newPage();
    for (const [path, heading] of [[`/share/${share_id}`, 'Wie warm ist es?'], ['/share/nothing', 'Link nicht gefunden']] as const) {
      await page.goto(home.origin + path);
      await expect(page.getByRole('heading', { level: 1, name: heading })).toBeVisible();
      await expect(page.locator('html')).toHaveAttribute('lang', 'de');
      expect(await page.evaluate(() => document.fonts.check('16px "Gatehouse Sans"') && document.fonts.size)).toBe(1);
      await check(page, path.startsWith('/share/nothing') ? 'share-none' : 'share');
    }
    await context.close();
  });

  test('describes senders, channels and voice providers in German', async ({ home: _, page }) => {
    await page.goto('/webhooks/new');
    await expect(page.getByRole('button', { name: /GitHub/ })).toContainText('Pushes, Pull-Requests, Issues, Releases');
    await page.goto('/channels?new=email');
    await expect(page.getByLabel('Von', { exact: true })).toBeVisible();
    await expect(page.getByText('Der SMTP-Server, zum Beispiel smtp.example.com.')).toBeVisible();
    await page.goto('/settings/voice');
    await expect(page.getByText('Gehostet. Benötigt einen API-Schlüssel von ElevenLabs.')).toBeVisible();
    await expect(page.getByText('Serveradresse fehlt').first()).toBeVisible();
  });
});
