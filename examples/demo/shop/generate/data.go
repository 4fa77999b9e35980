package main

type product struct {
	sku, name string
	cents     int
}

func products() []product {
	return []product{
		{"KTL-017", "Electric kettle 1.7 l", 3990}, {"MUG-BLU", "Stoneware mug, blue", 1250}, {"MUG-GRY", "Stoneware mug, grey", 1250},
		{"TEA-EG2", "Earl Grey, loose, 250 g", 1190}, {"COF-ETH", "Coffee beans, Ethiopia, 500 g", 1690}, {"COF-COL", "Coffee beans, Colombia, 1 kg", 2790},
		{"GRD-M1", "Hand coffee grinder", 7900}, {"FLT-100", "Paper filters, 100 pieces", 490}, {"SCL-02", "Kitchen scale 0.1 g", 3450},
		{"APR-LIN", "Linen apron", 4200}, {"KNF-CHF", "Chef's knife 20 cm", 8900}, {"BRD-OAK", "Cutting board, oak", 5400},
		{"PAN-28", "Iron pan 28 cm", 6490}, {"JAR-SET", "Storage jars, set of 6", 2990}, {"CDL-BEE", "Beeswax candles, 4 pieces", 1890},
		{"TWL-3", "Tea towels, set of 3", 2190}, {"THM-IR", "Infrared thermometer", 2690}, {"BTL-07", "Insulated bottle 0.7 l", 3290},
	}
}

type country struct {
	code, currency  string
	rate            float64 // to the price list
	postcode        string
	streets, cities []string
	first, last     []string
}

func countries() []country {
	return append(european(), overseas()...)
}

func european() []country {
	return []country{
		{
			"DE", "EUR", 1, "#####", []string{"Lindenstraße %d", "Am Markt %d", "Bahnhofstraße %d", "Schillerweg %d"},
			[]string{"Berlin", "Leipzig", "Köln", "Nürnberg", "Kiel"},
			[]string{"Jürgen", "Anke", "Mehmet", "Sophie", "Lukas"}, []string{"Müller", "Weiß", "Öztürk", "Schröder", "Krämer"},
		},
		{
			"FR", "EUR", 1, "#####", []string{"%d rue des Écoles", "%d avenue Victor Hugo", "%d place du Marché"},
			[]string{"Lyon", "Nantes", "Besançon", "Lille"},
			[]string{"Chloé", "Hugo", "Amélie", "Théo"}, []string{"Lefèvre", "Garçon", "Martin", "Nguyen"},
		},
		{
			"ES", "EUR", 1, "#####", []string{"Calle Mayor %d", "Avenida de la Paz %d", "Plaza España %d"},
			[]string{"Sevilla", "Málaga", "Gijón", "Bilbao"},
			[]string{"Lucía", "Íñigo", "Carmen", "Pablo"}, []string{"Núñez", "García", "Ibáñez", "Romero"},
		},
		{
			"PL", "PLN", 4.3, "##-###", []string{"ul. Długa %d", "ul. Kościuszki %d", "al. Jana Pawła II %d"},
			[]string{"Kraków", "Łódź", "Gdańsk", "Poznań"},
			[]string{"Zofia", "Paweł", "Agnieszka", "Jan"}, []string{"Wójcik", "Nowak", "Kowalczyk", "Zieliński"},
		},
		{
			"GB", "GBP", 0.86, "AA# #AA", []string{"%d High Street", "%d Station Road", "Flat 2, %d Mill Lane"},
			[]string{"Leeds", "Bristol", "Glasgow", "Cardiff"},
			[]string{"Olivia", "Imran", "Siân", "George"}, []string{"O'Neill", "Patel", "Hughes", "Campbell"},
		},
		{
			"DK", "DKK", 7.4, "####", []string{"Nørregade %d", "Skovvej %d", "Østerbrogade %d"},
			[]string{"København", "Aarhus", "Odense"},
			[]string{"Søren", "Freja", "Åse"}, []string{"Jørgensen", "Møller", "Holm"},
		},
	}
}

func overseas() []country {
	return []country{
		{
			"US", "USD", 1.08, "#####", []string{"%d Maple Ave", "%d Oak Street, Apt 4", "%d W 5th St"},
			[]string{"Portland, OR", "Austin, TX", "Madison, WI", "Troy, NY"},
			[]string{"Emily", "Darnell", "José", "Hannah"}, []string{"Johnson", "Ramírez", "Kim", "Washington"},
		},
		{
			"BR", "BRL", 5.6, "#####-###", []string{"Rua das Flores, %d", "Av. São João, %d", "Travessa do Comércio, %d"},
			[]string{"São Paulo", "Belém", "Florianópolis"},
			[]string{"João", "Conceição", "Thiago"}, []string{"Gonçalves", "Araújo", "Silva"},
		},
		{
			"JP", "JPY", 160, "###-####", []string{"本町%d丁目", "中央通り%d番地", "桜台%d-2"},
			[]string{"大阪市", "札幌市", "京都市"},
			[]string{"Yuki", "Haruto", "Sakura"}, []string{"Tanaka", "Suzuki", "Watanabe"},
		},
	}
}
