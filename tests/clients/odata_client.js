// What an integration does, with the npm package @odata/client; one JSON object in as the argument, one out as a line.
// It gets its token itself, writes keys as text, and sends batches as multipart and as JSON.
const {createRequire} = require("module");
const given = JSON.parse(process.argv[2]);
const {OData} = createRequire(`${given.modules}/`)("@odata/client");

async function work() {
  const client = OData.New4({
    serviceEndpoint: `${given.url}/admin/`,
    credential: {tokenUrl: `${given.url}/oauth/token`, clientId: given.client, clientSecret: given.secret}
  });
  const promotions = client.getEntitySet("Promotions");
  const begun = await promotions.create({name: given.mark, IsActiveEntity: false});
  const draft = {ID: begun.ID, IsActiveEntity: false};
  const active = {ID: begun.ID, IsActiveEntity: true};

  await promotions.update(draft, {priority: 7, validFrom: "2026-01-01T00:00:00Z"});
  const changed = await promotions.retrieve(draft);
  const made = await promotions.action("AdminService.draftActivate", draft);
  const byText = await promotions.retrieve(begun.ID);
  await promotions.action("AdminService.draftEdit", active, {PreserveChanges: true});

  const merged = `name eq '${given.mark}' and (IsActiveEntity eq false or SiblingEntity/IsActiveEntity eq null)`;
  const listed = await promotions.query(OData.newParam().filter(merged).select(["ID", "name"]).orderby("name"));
  const byName = OData.newFilter().field("name").eqString(given.mark);
  const counted = await promotions.count(byName);

  const reading = (id) => client.newBatchRequest({collection: "Promotions", id, method: "GET"});
  const parts = await client.execBatchRequests([reading(draft), reading(active), reading({...active, ID: given.nobody})]);
  const multipart = await Promise.all(parts.map(async (one) => [one.status, (await one.json()).IsActiveEntity]));
  const json = await client.execBatchRequestsJson([
    client.newBatchRequest({collection: "Promotions", id: draft, method: "PATCH", entity: {name: `${given.mark} too`}}),
    reading(draft)
  ]);
  const inJson = await Promise.all(json.map(async (one) => [one.status, (await one.json()).name]));

  await promotions.delete(draft);
  const gone = await promotions.retrieve(draft).catch((error) => error.message);
  const left = await promotions.retrieve(active);
  console.log(JSON.stringify({begun, changed, made, byText, listed, counted, multipart, inJson, gone, left}));
}

work().catch((error) => {
  console.error(error);
  process.exit(1);
});
