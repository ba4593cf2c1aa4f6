
let player;
try {
  const data = JSON.parse($("data").textContent);
  player = new Player(new Motion(data), data.tables);
} catch (error) {
  fail(error.message);
}
