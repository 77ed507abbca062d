-- Tells the host what happens in the world, and sets up the starts it asks for.
-- The functions of `host` live in the preloaded shim; `order` in client.py names the telemetry.
local ffi = require("ffi")
ffi.cdef [[
	void actswm_tick(void);
	void actswm_emit(const char *line);
	double *actswm_telemetry(void);
	const char *actswm_command(void);
]]
local host = ffi.C
local telemetry = host.actswm_telemetry()

local function emit(event)
	host.actswm_emit(minetest.write_json(event))
end

local function list(pos)
	return {pos.x, pos.y, pos.z}
end

-- Journal: whatever changes a node is written down, so that the next start begins in the untouched world.

local journal = {}
local set_node = minetest.set_node

local function remember(pos)
	pos = vector.round(pos)
	journal[#journal + 1] = {pos = pos, node = minetest.get_node(pos)}
end

for _, name in ipairs({"set_node", "add_node", "remove_node", "swap_node"}) do
	local change = minetest[name]
	minetest[name] = function(pos, ...)
		remember(pos)
		return change(pos, ...)
	end
end

local bulk_set_node = minetest.bulk_set_node
function minetest.bulk_set_node(positions, node)
	for _, pos in ipairs(positions) do
		remember(pos)
	end
	return bulk_set_node(positions, node)
end

local function undo()
	for index = #journal, 1, -1 do
		local entry = journal[index]
		if entry.node then
			set_node(entry.pos, entry.node)
		else
			local manip = minetest.get_voxel_manip(entry.min, entry.max)
			manip:set_data(entry.data)
			manip:set_param2_data(entry.param2)
			manip:write_to_map()
		end
	end
	journal = {}
end

-- Boxes: {x1, y1, z1, x2, y2, z2, node}, later ones over earlier ones, written in one go.

local function bounds(boxes)
	local min, max = vector.new(boxes[1][1], boxes[1][2], boxes[1][3]), vector.new(boxes[1][4], boxes[1][5], boxes[1][6])
	for _, box in ipairs(boxes) do
		min = vector.new(math.min(min.x, box[1]), math.min(min.y, box[2]), math.min(min.z, box[3]))
		max = vector.new(math.max(max.x, box[4]), math.max(max.y, box[5]), math.max(max.z, box[6]))
	end
	return min, max
end

local function build(boxes)
	if #boxes == 0 then
		return
	end
	local manip = minetest.get_voxel_manip()
	local min, max = manip:read_from_map(bounds(boxes))
	local area = VoxelArea:new({MinEdge = min, MaxEdge = max})
	local data, param2 = manip:get_data(), manip:get_param2_data()
	journal[#journal + 1] = {min = min, max = max, data = table.copy(data), param2 = table.copy(param2)}
	for _, box in ipairs(boxes) do
		local id = minetest.get_content_id(box[7])
		for index in area:iter(unpack(box, 1, 6)) do
			data[index] = id
			param2[index] = 0
		end
	end
	manip:set_data(data)
	manip:set_param2_data(param2)
	manip:write_to_map()
end

-- Starts.

local dead = false
local pending -- a start whose surroundings are being generated

local function feet(x, z)
	local level = minetest.get_spawn_level(x, z)
	return level and vector.new(x, level - 0.5, z)
end

-- On the ground at the first spot that is land, else on the land that is nearest to the first spot.
local function ground(spots)
	for _, spot in ipairs(spots) do
		if feet(spot[1], spot[2]) then
			return feet(spot[1], spot[2])
		end
	end
	local x, z = spots[1][1], spots[1][2]
	for reach = 16, 4096, 16 do
		for turn = 0, 7 do
			local found = feet(x + math.floor(reach * math.sin(turn * math.pi / 4)),
				z + math.floor(reach * math.cos(turn * math.pi / 4)))
			if found then
				return found
			end
		end
	end
	return vector.new(x, 30, z) -- water everywhere: drop in, and swim
end

local function solid(pos)
	local node = minetest.registered_nodes[minetest.get_node(pos).name]
	return not node or node.walkable or node.liquidtype ~= "none"
end

-- Trees and boulders come after the generator's ground level: the nearest place where nothing stands in the way.
local function clear(position)
	for reach = 0, 12 do
		for dx = -reach, reach do
			for dz = -reach, reach do
				for _, dy in ipairs(math.max(math.abs(dx), math.abs(dz)) == reach and {0, 1, -1, 2, -2, 3} or {}) do
					local feet = vector.offset(position, dx, dy + 0.5, dz)
					if solid(vector.offset(feet, 0, -1, 0)) and not solid(feet) and not solid(vector.offset(feet, 0, 1, 0)) then
						return vector.offset(position, dx, dy, dz)
					end
				end
			end
		end
	end
	return position
end

local function begin(player, start)
	undo()
	build(start.boxes)
	if start.spots then
		start.position = clear(start.position)
	end
	for _, object in ipairs(minetest.get_objects_inside_radius(start.position, 300)) do
		if not object:is_player() then
			object:remove()
		end
	end
	minetest.close_formspec(player:get_player_name(), "")
	player:add_velocity(vector.multiply(player:get_velocity(), -1))
	player:set_pos(start.position)
	player:set_look_horizontal(math.rad(-start.yaw))
	player:set_look_vertical(math.rad(start.pitch))
	dead = false
	player:set_hp(minetest.PLAYER_MAX_HP_DEFAULT)
	player:set_breath(minetest.PLAYER_MAX_BREATH_DEFAULT)
	local inventory = player:get_inventory()
	inventory:set_list("main", start.inventory)
	inventory:set_list("craft", {})
	emit({name = "reset", id = start.id, position = list(start.position)})
end

local function prepare(start)
	local place = start.position
	start.position = place and vector.new(unpack(place)) or ground(start.spots)
	local low = vector.offset(start.position, -start.radius, -16, -start.radius)
	local high = vector.offset(start.position, start.radius, 32, start.radius)
	minetest.emerge_area(low, high, function(_, _, left)
		if left == 0 then
			pending = start
		end
	end)
end

-- Degrees, right positive, from -180 to 180.
local function yaw(player)
	return 180 - (math.deg(player:get_look_horizontal()) + 180) % 360
end

-- Events.

local function is_player(object)
	return object and object:is_player()
end

minetest.register_on_dignode(function(pos, node, digger)
	if is_player(digger) then
		emit({name = "dig", node = node.name, position = list(pos)})
	end
end)

minetest.register_on_placenode(function(pos, node, placer, _, _, pointed)
	if is_player(placer) then
		local against = pointed and pointed.type == "node" and minetest.get_node(pointed.under).name
		emit({name = "place", node = node.name, position = list(pos), against = against or ""})
	end
end)

minetest.register_on_player_hpchange(function(player, change)
	local health = player:get_hp()
	if change < 0 and health + change <= 0 then
		if not dead then
			emit({name = "death"})
		end
		dead = true
		return 1 - health -- the death screen would wait for a click; the episode is over anyway
	end
	return change
end, true)

minetest.register_on_joinplayer(function(player)
	local name = player:get_player_name()
	minetest.set_player_privs(name, {interact = true, fast = true})
	player:hud_set_hotbar_itemcount(9)
	player:hud_set_flags({
		hotbar = false, healthbar = false, breathbar = false, minimap = false, crosshair = true, wielditem = true,
		basic_debug = false,
	})
	-- Always noon under an even sky: the engine's own sky slowly darkens while the player looks at the ground.
	minetest.set_timeofday(0.5)
	player:set_sky({type = "plain", base_color = "#8cbafa", clouds = false})
	player:set_sun({visible = false, sunrise_visible = false})
	player:set_moon({visible = false})
	player:set_stars({visible = false})
	emit({name = "join"})
end)

minetest.register_globalstep(function()
	local player = minetest.get_connected_players()[1]
	local command = host.actswm_command()
	if command ~= nil then
		prepare(minetest.parse_json(ffi.string(command)))
	end
	if player then
		if pending then
			local start = pending
			pending = nil
			begin(player, start)
		end
		local pos, velocity = player:get_pos(), player:get_velocity()
		local values = {
			pos.x, pos.y, pos.z, yaw(player), math.deg(player:get_look_vertical()),
			player:get_hp(), player:get_breath(), player:get_wield_index(), velocity.x, velocity.y, velocity.z,
		}
		for index, value in ipairs(values) do
			telemetry[index - 1] = value
		end
	end
	host.actswm_tick()
end)
